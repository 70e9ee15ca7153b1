const gibBytes = 1024n ** 3n;

/**
 * The bytes of a number of GiB as people write it: "10", "0.5", "1,5". Exact, rounded up to whole bytes.
 * @returns undefined for what is no such number, or is not above 0
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
