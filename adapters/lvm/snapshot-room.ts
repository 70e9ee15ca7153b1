/** What dm-snapshot copies at once, as lvcreate sets it up unless told otherwise. */
const chunkBytes = 4096n;
/** Each chunk copied is noted in 16 bytes. */
const notesPerChunk = chunkBytes / 16n;

/**
 * Room that a copy-on-write snapshot needs, so that `percent` of its origin can change before it overflows: the copied
 * chunks, LVM's notes of them, and its header. With 100 it never overflows.
 */
export function snapshotRoomBytes(originSizeBytes: bigint, percent: number): bigint {
  const changedBytes = (originSizeBytes * BigInt(Math.ceil(percent * 1000))) / 100_000n;
  const chunks = divideUp(changedBytes, chunkBytes);
  // One table of notes is begun before the last is full, and the header has a chunk of its own.
  return (chunks + divideUp(chunks, notesPerChunk) + 2n) * chunkBytes;
}

function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}
