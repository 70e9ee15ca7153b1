const units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/** Formats a size in a readable unit and exactly: `2.5 GiB (2684354560 bytes)`. */
export function describeSize(sizeBytes: bigint): string {
  const rounded = roundSize(sizeBytes);
  return rounded === `${sizeBytes} bytes` ? rounded : `${rounded} (${sizeBytes} bytes)`;
}

/** Formats a size in a readable unit, with two decimals at most: `2.5 GiB`. */
export function roundSize(sizeBytes: bigint): string {
  let size = Number(sizeBytes);
  let unit = "";
  for (const larger of units) {
    if (size < 1024) {
      break;
    }
    size /= 1024;
    unit = larger;
  }
  return unit === "" ? `${sizeBytes} bytes` : `${Number(size.toFixed(2))} ${unit}`;
}
