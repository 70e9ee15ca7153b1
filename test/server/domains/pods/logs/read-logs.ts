import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { GetLogsRequestSchema } from "../../../../../gen/v1alpha/api_pb.ts";
import type { LogMessage } from "../../../../../server/domains/pods/logs/log-messages.ts";
import { createPodLogs, type PodLogsOptions } from "../../../../../server/domains/pods/logs/pod-logs.ts";

/** A call of GetLogs. */
export interface LogsUnderTest extends AsyncGenerator<LogMessage, void> {
  /** Returns the resource that the call has noted. */
  readonly resource: () => string;
  /** Ends the call. */
  readonly leave: (reason: Error) => void;
}

/** Calls GetLogs. */
export function readLogs(
  runtime: PodLogsOptions["runtime"],
  request: MessageInitShape<typeof GetLogsRequestSchema>,
  maxMessageBytes = 4 << 20,
  options: Pick<PodLogsOptions, "silenceMs"> = {},
): LogsUnderTest {
  const ending = new AbortController();
  let resource = "";
  const call = {
    signal: ending.signal,
    noteResource(about: string) {
      resource = about;
    },
  };
  const logs = createPodLogs({ runtime, maxMessageBytes, ...options });
  const messages = logs.read(create(GetLogsRequestSchema, request), call);
  return Object.assign(messages, {
    resource: () => resource,
    leave: (reason: Error) => ending.abort(reason),
  });
}

/** Collects all messages until the end. */
export async function messagesOf(messages: AsyncIterable<LogMessage>): Promise<LogMessage[]> {
  const all: LogMessage[] = [];
  for await (const message of messages) {
    all.push(message);
  }
  return all;
}

/** Returns the next message's lines without their times; undefined at the end. */
export async function nextLines(
  messages: AsyncIterator<LogMessage, void>,
): Promise<readonly string[] | undefined> {
  const next = await messages.next();
  return next.done === true ? undefined : wordsOf(next.value);
}

/** Returns the same for the next message that has lines. */
export async function nextPrinted(
  messages: AsyncIterator<LogMessage, void>,
): Promise<readonly string[] | undefined> {
  let lines = await nextLines(messages);
  while (lines?.length === 0) {
    lines = await nextLines(messages);
  }
  return lines;
}

/** Returns lines without their times. */
export function wordsOf({ lines }: LogMessage): string[] {
  return lines.map((line) => line.slice(line.indexOf(" ") + 1));
}
