const gibBytes = 1024n ** 3n;

/**
 * Converts GiB as people write them to bytes: "10", "0.5", "1,5". Exact, rounded up to whole bytes.
 * @returns undefined for anything else, and for 0
 */
export function bytesFromGib(text: string): bigint | undefined {
  const match = /^\s*(\d{1,9})(?:[.,](\d{1,9}))?\s*$/.exec(text);
  if (match === null) {
    return undefined;
  }
  const [, whole = "", fraction = ""] = match;
  const scale = 10n ** BigInt(fraction.length);
  const bytes = (BigInt(whole + fraction) * gibBytes + scale - 1n) / scale;
  return bytes > 0n ? bytes : undefined;
}
