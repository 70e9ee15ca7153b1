import { InvalidArgumentError } from "commander";

const unitsMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/**
 * Parses a duration with its unit, such as `10s`, `1.5h` or `30d`, to milliseconds. A number without a unit is rejected, except 0.
 * @throws InvalidArgumentError that lists the accepted forms
 */
export function parseDuration(text: string): number {
  const [, number = "", unit = ""] = /^(\d{1,9}(?:\.\d{1,6})?)(ms|s|m|h|d)$/.exec(text) ?? [];
  const unitMs = unitsMs[unit];
  if (text === "0") {
    return 0;
  }
  if (unitMs === undefined) {
    throw new InvalidArgumentError("expected a number with a unit (ms, s, m, h, d), such as 10s or 1.5h");
  }
  return Math.round(Number(number) * unitMs);
}
