const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;

/** Formats bytes in powers of 1024 with at most three digits: "1.5 GiB", "512 B". */
export function sizeText(bytes: bigint | number): string {
  let value = Number(bytes);
  let unit = 0;
  while (Math.abs(value) >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = unit === 0 || Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${Number(value.toFixed(digits))} ${units[unit]}`;
}
