/** A server-sent event (HTML standard, 9.2). */
export interface ServerEvent {
  /** `message` unless the event names its type. */
  readonly type: string;
  readonly data: string;
}

/** Reads the events of a stream as the gateway writes them, whatever its pieces. Ids, comments and `retry` are skipped. */
export async function* readEvents(pieces: AsyncIterable<string>): AsyncGenerator<ServerEvent, void> {
  let pending = "";
  for await (const piece of pieces) {
    const blocks = (pending + piece).split("\n\n");
    pending = blocks.pop() ?? "";
    for (const block of blocks) {
      const lines = block.split("\n");
      const data = valuesOf(lines, "data");
      if (data.length > 0) {
        yield { type: valuesOf(lines, "event")[0] ?? "message", data: data.join("\n") };
      }
    }
  }
}

function valuesOf(lines: readonly string[], field: string): string[] {
  return lines.filter((line) => line.startsWith(`${field}: `)).map((line) => line.slice(field.length + 2));
}
