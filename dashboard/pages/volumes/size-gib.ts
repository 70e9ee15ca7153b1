/** Bytes of each accepted unit. Units below a GiB are accepted only for whole GiB. */
const bytesOf: Readonly<Record<string, bigint>> = {
  b: 1n,
  k: 1n << 10n,
  m: 1n << 20n,
  g: 1n << 30n,
  t: 1n << 40n,
  p: 1n << 50n,
};

const gib = 1n << 30n;

/**
 * Parses a size as people write it, in powers of 1024: "10" and "10 GiB" are 10 GiB, "1.5 TiB" is 1536.
 * @returns whole GiB, the contract's unit for volumes
 * @throws RangeError that says what is expected
 */
export function parseSizeGib(text: string): bigint {
  const parts = /^\s*(\d+)(?:\.(\d{1,6}))?\s*(?:([bkmgtp])(?:i?b)?)?\s*$/i.exec(text);
  if (parts === null) {
    throw new RangeError("expected a number and a unit, such as 10 GiB or 1.5 TiB");
  }
  const [, whole = "", fraction = "", unit = "g"] = parts;
  const scale = 10n ** BigInt(fraction.length);
  const scaledBytes = BigInt(whole + fraction) * (bytesOf[unit.toLowerCase()] ?? gib);
  if (scaledBytes % (scale * gib) !== 0n) {
    throw new RangeError("must be whole GiB");
  }
  return scaledBytes / (scale * gib);
}
