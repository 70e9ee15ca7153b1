const units: readonly (string | undefined)[] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/**
 * Parses a rate in the contract's text format: "853.00 B/s rd" is 853 bytes per second, "1.50 KiB/s wr" 1536, "12 ops/s rd" is 12
 * operations per second.
 * @returns undefined for anything else
 */
export function parseRate(text: string): number | undefined {
  const [, figure, unit] = /^(\d+(?:\.\d+)?) (ops|[KMGTP]iB|B)\/s (?:rd|wr)$/.exec(text) ?? [];
  if (figure === undefined) {
    return undefined;
  }
  const step = units.indexOf(unit);
  return Number(figure) * 1024 ** Math.max(0, step);
}
