/** Maximum number of ids in one pattern. */
export const maxIdsOfPattern = 10_000;

/**
 * Expands a pattern to its ids: `bm-{01..12}` gives bm-01 to bm-12, padded with zeros as a shell does; a text without braces
 * stands for itself. Returns undefined for anything else: more than one range, a range that goes backwards or has no start, or
 * more than 10,000 ids.
 */
export function idsOfPattern(pattern: string): readonly string[] | undefined {
  if (!/[{}]/.test(pattern)) {
    return [pattern];
  }
  const parts = /^([^{}]*)\{(\d{1,9})\.\.(\d{1,9})\}([^{}]*)$/.exec(pattern);
  if (parts === null) {
    return undefined;
  }
  const [, before = "", first = "", last = "", after = ""] = parts;
  const count = Number(last) - Number(first) + 1;
  if (count < 1 || count > maxIdsOfPattern) {
    return undefined;
  }
  // As in bash, a leading zero at either end pads all numbers to the longer end.
  const isPadded = /^0\d/.test(first) || /^0\d/.test(last);
  const width = isPadded ? Math.max(first.length, last.length) : 1;
  return Array.from({ length: count }, (_, index) => {
    const number = String(Number(first) + index).padStart(width, "0");
    return `${before}${number}${after}`;
  });
}
