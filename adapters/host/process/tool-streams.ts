import { once } from "node:events";
import type { Readable, Writable } from "node:stream";

/**
 * Writes a source to a tool's stdin, at the tool's pace, and closes stdin at the end of the source. If the source
 * fails, stdin stays open: the tool would take a closed one for the end of the data.
 * @returns a function that stops writing, to be called when the tool has ended; it calls the source's `return`
 */
export function feed(
  stdin: Writable,
  source: AsyncIterable<Uint8Array>,
  onFailure: (cause: unknown) => void,
): () => void {
  const iterator = source[Symbol.asyncIterator]();
  const ended = new AbortController();
  let hasMore = true;

  async function write(): Promise<void> {
    for (;;) {
      const next = await iterator.next();
      if (next.done) {
        hasMore = false;
        stdin.end();
        return;
      }
      if (ended.signal.aborted || stdin.destroyed) {
        return;
      }
      if (!stdin.write(next.value)) {
        // A tool that has closed its stdin never drains it; its exit ends the wait and shows whether that mattered.
        await once(stdin, "drain", { signal: ended.signal }).catch(() => {});
      }
    }
  }

  write().catch((cause: unknown) => {
    hasMore = false;
    onFailure(cause);
  });
  return () => {
    ended.abort();
    if (hasMore) {
      // Not awaited: a source blocked in its own read would delay the report of the tool's end.
      Promise.resolve(iterator.return?.()).catch(() => {});
    }
  };
}

/**
 * Passes each chunk of a tool's stdout to a reader. While the reader's promise is pending, nothing is read from the
 * tool; a chunk already received may still be delivered.
 * @param onFailure called with the reader's error; nothing more is passed on after that
 * @returns a function that reports whether the reader has kept the tool waiting since the last call
 */
export function readAtPace(
  stdout: Readable,
  reader: (chunk: Buffer) => void | Promise<void>,
  onFailure: (cause: unknown) => void,
): () => boolean {
  let waiting = 0;
  let hasWaited = false;
  let hasFailed = false;

  function fail(cause: unknown): void {
    if (!hasFailed) {
      hasFailed = true;
      // Further output is dropped, so that the tool can end.
      stdout.resume();
      onFailure(cause);
    }
  }

  async function take(chunk: Buffer): Promise<void> {
    const taken = reader(chunk);
    if (taken === undefined) {
      return;
    }
    waiting += 1;
    hasWaited = true;
    stdout.pause();
    try {
      await taken;
    } finally {
      waiting -= 1;
      if (waiting === 0) {
        stdout.resume();
      }
    }
  }

  stdout.on("data", (chunk: Buffer) => {
    if (!hasFailed) {
      take(chunk).catch(fail);
    }
  });
  return () => {
    const has = hasWaited;
    hasWaited = waiting > 0;
    return has;
  };
}
