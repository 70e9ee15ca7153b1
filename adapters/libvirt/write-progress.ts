/**
 * How far a volume is that is written and then read back, each of which is a half.
 * @returns to be told how many bytes have just been moved, in whichever way
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
