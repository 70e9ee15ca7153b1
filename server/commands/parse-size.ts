import { InvalidArgumentError } from "commander";

const units: Readonly<Record<string, bigint>> = {
  "": 1n,
  KiB: 1n << 10n,
  MiB: 1n << 20n,
  GiB: 1n << 30n,
  TiB: 1n << 40n,
};

/** Reads a size, such as `10GiB`, `1.5TiB` or a plain number of bytes. */
export function parseSize(text: string): bigint {
  const [, digits = "", fraction = "", unit = ""] = /^(\d{1,18})(?:\.(\d{1,6}))?\s?(\w*)$/.exec(text) ?? [];
  const factor = units[unit];
  const isWhole = fraction === "" || unit !== "";
  if (digits === "" || factor === undefined || !isWhole) {
    throw new InvalidArgumentError("expected a size such as 10GiB, 1.5TiB or 1073741824");
  }
  const scale = 10n ** BigInt(fraction.length);
  const bytes = (BigInt(digits + fraction) * factor) / scale;
  if (bytes < 1n || bytes >= 1n << 63n) {
    throw new InvalidArgumentError("expected a size above 0 and below 8 EiB");
  }
  return bytes;
}
