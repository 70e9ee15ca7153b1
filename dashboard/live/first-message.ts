import type { CallOptions } from "@connectrpc/connect";

/**
 * Returns the first message of a stream that starts with the whole state, and ends the stream. For pages that learn from events
 * when to read again.
 * @throws ConnectError of the stream; Error when it ends without a message
 */
export async function firstMessage<T>(
  open: (options: CallOptions) => AsyncIterable<T>,
  { signal }: CallOptions,
): Promise<T> {
  const stop = new AbortController();
  const both = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
  try {
    for await (const message of open({ signal: both })) {
      return message;
    }
  } finally {
    stop.abort();
  }
  throw new Error("the stream ended without a message");
}
