import type { CallOptions } from "@connectrpc/connect";

/**
 * What a stream that tells the whole state tells first. It is ended then, for pages that hear by events when to read again.
 * @throws ConnectError as the stream does; Error when it ends without a message
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
  throw new Error("the stream ended before it told anything");
}
