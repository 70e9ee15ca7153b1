const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/** Formats a size for people: `1.5 GiB`. */
export function sizeText(bytes: bigint): string {
  const size = Number(bytes);
  const power = size < 1024 ? 0 : Math.min(Math.floor(Math.log2(size) / 10), units.length - 1);
  return `${Number((size / 1024 ** power).toFixed(2))} ${units[power]}`;
}
