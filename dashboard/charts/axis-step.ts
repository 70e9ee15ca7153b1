/** An axis has so many steps. */
const stepCount = 4;

/**
 * How far apart the ticks of an axis are that begins at 0 and has room for `max` in four steps, so that they are round in the
 * unit that people read: powers of 2 for bytes, 1, 2 and 5 times a power of 10 for anything else.
 */
export function axisStep(max: number, unit: "bytes" | "count"): number {
  const least = Math.max(max, 1) / stepCount;
  if (unit === "bytes") {
    return 2 ** Math.ceil(Math.log2(least));
  }
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((factor) => factor * power >= least) ?? 10);
}
