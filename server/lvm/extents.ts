/** Rounds up to whole extents, as LVM allocates. */
export function roundUpToExtents(sizeBytes: bigint, extentSizeBytes: bigint): bigint {
  return ((sizeBytes + extentSizeBytes - 1n) / extentSizeBytes) * extentSizeBytes;
}
