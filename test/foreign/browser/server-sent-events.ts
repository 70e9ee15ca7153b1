import { callError } from "./wire-error.ts";

export interface ServerSentEvent {
  readonly id: string | undefined;
  /** `message` unless the event names another type. */
  readonly type: string;
  readonly data: string;
}

/** Yields the events of a `text/event-stream` response. The gateway ends lines with `\n`. */
export async function* readServerSentEvents(answer: Response): AsyncGenerator<ServerSentEvent, void> {
  let text = "";
  for await (const bytes of (answer.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    const frames = (text + bytes).split("\n\n");
    text = frames.pop() ?? "";
    for (const frame of frames) {
      const event = parseEvent(frame);
      if (event !== undefined) {
        yield event;
      }
    }
  }
}

/** Yields the messages of a stream as JSON. @throws Error of `callError` for an event `error` */
export async function* messagesOfEvents(answer: Response): AsyncGenerator<object, void> {
  for await (const { type, data } of readServerSentEvents(answer)) {
    if (type === "error") {
      throw callError(JSON.parse(data));
    }
    if (type === "end") {
      return;
    }
    yield JSON.parse(data);
  }
  throw new Error("the stream broke off before its event `end`");
}

/** Returns undefined for a frame without data, such as a comment. */
function parseEvent(frame: string): ServerSentEvent | undefined {
  const fields = frame.split("\n").map((line) => /^(\w*): ?(.*)$/.exec(line) ?? []);
  const valuesOf = (name: string) =>
    fields.flatMap(([, field, value = ""]) => (field === name ? [value] : []));
  const data = valuesOf("data");
  return data.length === 0
    ? undefined
    : { id: valuesOf("id").at(-1), type: valuesOf("event").at(-1) ?? "message", data: data.join("\n") };
}
