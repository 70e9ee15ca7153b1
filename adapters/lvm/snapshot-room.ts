/** Chunk size of dm-snapshot, as lvcreate sets it by default. */
const chunkBytes = 4096n;
/** Each copied chunk needs 16 bytes of exception metadata. */
const notesPerChunk = chunkBytes / 16n;

/**
 * Returns the size that a copy-on-write snapshot needs so that `percent` of its origin can change before it overflows:
 * the copied chunks, their metadata, and the header. With 100 it never overflows.
 */
export function snapshotRoomBytes(originSizeBytes: bigint, percent: number): bigint {
  const changedBytes = (originSizeBytes * BigInt(Math.ceil(percent * 1000))) / 100_000n;
  const chunks = divideUp(changedBytes, chunkBytes);
  // A new metadata area is started before the last one is full, and the header takes one chunk.
  return (chunks + divideUp(chunks, notesPerChunk) + 2n) * chunkBytes;
}

function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}
