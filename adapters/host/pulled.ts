import { once } from "node:events";
import { PassThrough } from "node:stream";

/**
 * Makes a source of what pushes its bytes, such as a tool whose output is taken chunk by chunk: it waits until its reader
 * wants more. It ends when `push` has resolved, and fails as it does. Leaving the loop aborts what `push` is given, and waits
 * for its end.
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
