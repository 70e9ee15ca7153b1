import { once } from "node:events";
import type { Readable, Writable } from "node:stream";

/**
 * Writes what a source has to a tool's stdin, at the tool's pace, and closes it at the source's end. When the source fails it
 * stays open: a closed one would be the end of the data to the tool.
 * @returns what ends it, to be called when the tool has ended; the source's `return` is then called
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
        // Of a tool that has closed its stdin nothing comes: its end does, and tells whether that mattered.
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
      // Not awaited: a source that is stuck in its own reading would keep the tool's end from being told.
      Promise.resolve(iterator.return?.()).catch(() => {});
    }
  };
}

/**
 * Hands each chunk of a tool's stdout to a reader. While a promise of the reader's is open none is read from the tool; one that
 * was on its way may still come.
 * @param onFailure called with what the reader throws or rejects with; nothing more is handed over then
 * @returns whether the reader has kept the tool waiting since the last call
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
      // What is still printed is dropped, so that the tool can end.
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
