/** The most ids that one pattern gives. */
export const maxIdsOfPattern = 10_000;

/**
 * The ids that a pattern stands for: `bm-{01..12}` for bm-01 to bm-12, padded with zeros as a shell would; a text without
 * braces for itself. Undefined for anything else: more than one range, one that goes backwards or begins nowhere, or one of
 * more than 10,000.
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
  // As bash has it: a leading zero at either end pads all to the longer of them.
  const isPadded = /^0\d/.test(first) || /^0\d/.test(last);
  const width = isPadded ? Math.max(first.length, last.length) : 1;
  return Array.from({ length: count }, (_, index) => {
    const number = String(Number(first) + index).padStart(width, "0");
    return `${before}${number}${after}`;
  });
}
