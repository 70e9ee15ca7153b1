/** Keeps the first bytes of a stream. */
export interface HeadCollector {
  /** Adds a chunk; returns false once the limit is exceeded, after which nothing more is kept. */
  add(chunk: Buffer): boolean;
  text(): string;
  /** Number of bytes received, kept or not. */
  seenBytes(): number;
}

/** Keeps the first `maxBytes` of a stream in memory, as UTF-8 text. */
export function createHeadCollector(maxBytes: number): HeadCollector {
  const chunks: Buffer[] = [];
  let seen = 0;
  return {
    add(chunk) {
      const room = Math.max(0, maxBytes - seen);
      seen += chunk.length;
      if (room > 0) {
        chunks.push(chunk.length <= room ? chunk : chunk.subarray(0, room));
      }
      return seen <= maxBytes;
    },
    text: () => Buffer.concat(chunks).toString("utf8"),
    seenBytes: () => seen,
  };
}

/** Keeps the last bytes of a stream. */
export interface TailCollector {
  add(chunk: Buffer): void;
  text(): string;
}

/** Keeps the last `maxBytes` of a stream in memory, as UTF-8 text. A tool's last lines explain why it failed. */
export function createTailCollector(maxBytes: number): TailCollector {
  let tail: Buffer = Buffer.alloc(0);
  return {
    add(chunk) {
      const joined = tail.length === 0 ? chunk : Buffer.concat([tail, chunk]);
      // A copy, so that a small tail does not keep a large chunk in memory.
      tail = joined.length <= maxBytes ? joined : Buffer.from(joined.subarray(joined.length - maxBytes));
    },
    text: () => tail.toString("utf8"),
  };
}
