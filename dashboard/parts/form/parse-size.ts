/** Bytes of each unit. */
const bytesOf: Readonly<Record<string, bigint>> = {
  b: 1n,
  k: 1n << 10n,
  m: 1n << 20n,
  g: 1n << 30n,
  t: 1n << 40n,
  p: 1n << 50n,
};

/**
 * Parses a size as people write it, in powers of 1024: "512 MiB", "1.5T". Rounds up to whole bytes.
 * @param defaultUnit unit of a number without one, such as "g"; without it a unit is required
 * @returns bytes
 * @throws RangeError that says what is expected
 */
export function parseSize(text: string, defaultUnit = ""): bigint {
  const parts = /^\s*(\d+)(?:\.(\d{1,6}))?\s*(?:([bkmgtp])(?:i?b)?)?\s*$/i.exec(text);
  const [, whole = "", fraction = "", unit = defaultUnit] = parts ?? [];
  const unitBytes = bytesOf[unit.toLowerCase()];
  if (parts === null || unitBytes === undefined) {
    throw new RangeError("expected a number and a unit, such as 10 GiB or 1.5 TiB");
  }
  const scale = 10n ** BigInt(fraction.length);
  return (BigInt(whole + fraction) * unitBytes + scale - 1n) / scale;
}
