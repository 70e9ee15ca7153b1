import { once } from "node:events";
import { PassThrough } from "node:stream";

/**
 * Turns code that pushes bytes, such as a tool with an output callback, into a source: `push` waits until the reader
 * wants more. The source ends when `push` has resolved, and fails when it fails. Leaving the loop aborts the signal
 * given to `push` and waits for it to end.
 */
export async function* pulled(
  push: (take: (chunk: Uint8Array) => Promise<void>, signal: AbortSignal) => Promise<unknown>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const leaving = new AbortController();
  const content = new PassThrough();
  const take = async (chunk: Uint8Array) => {
    if (!content.write(chunk)) {
      await once(content, "drain", { signal: leaving.signal }).catch(() => {});
    }
  };
  const pushed = push(take, AbortSignal.any([signal, leaving.signal])).then(
    () => void content.end(),
    (error: unknown) => void content.destroy(error instanceof Error ? error : undefined),
  );
  try {
    yield* content;
  } finally {
    leaving.abort();
    await pushed;
  }
}
