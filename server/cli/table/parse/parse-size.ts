import { InvalidArgumentError } from "commander";

const units: Readonly<Record<string, bigint>> = {
  B: 1n,
  KiB: 1n << 10n,
  MiB: 1n << 20n,
  GiB: 1n << 30n,
  TiB: 1n << 40n,
};

/**
 * Parses a size with its unit, such as `10GiB` or `1.5TiB`. A number without a unit is rejected: 5 could mean bytes or GiB.
 * @throws InvalidArgumentError that lists the accepted forms
 */
export function parseSize(text: string): bigint {
  const [, digits = "", fraction = "", unit = ""] =
    /^(\d{1,18})(?:\.(\d{1,6}))?\s?([KMGT]iB|B)$/.exec(text) ?? [];
  const factor = units[unit];
  const isWhole = fraction === "" || unit !== "B";
  if (factor === undefined || !isWhole) {
    throw new InvalidArgumentError(
      `expected a number with a unit (${Object.keys(units).join(", ")}), such as 10GiB or 1.5TiB`,
    );
  }
  const scale = 10n ** BigInt(fraction.length);
  const bytes = (BigInt(digits + fraction) * factor) / scale;
  if (bytes < 1n || bytes >= 1n << 63n) {
    throw new InvalidArgumentError("expected a size above 0 and below 8 EiB");
  }
  return bytes;
}
