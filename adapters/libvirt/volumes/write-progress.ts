/**
 * Tracks the progress of a volume that is written and then read back, with equal weight.
 * @returns a function to call with the number of bytes just written or read
 */
export function createWriteProgress(
  sizeBytes: bigint,
  onProgress: (doneBytes: bigint) => void,
): (bytes: number) => void {
  let movedBytes = 0n;
  return (bytes) => {
    const before = movedBytes / 2n;
    movedBytes += BigInt(bytes);
    const doneBytes = movedBytes / 2n;
    if (doneBytes > before && doneBytes <= sizeBytes) {
      onProgress(doneBytes);
    }
  };
}
