/** Number of steps of an axis. */
const stepCount = 4;

/**
 * Returns the distance between the ticks of an axis that starts at 0 and fits `max` in four steps. The ticks are round numbers of
 * the unit: powers of 2 for bytes, 1, 2 and 5 times a power of 10 for anything else.
 */
export function axisStep(max: number, unit: "bytes" | "count"): number {
  const least = Math.max(max, 1) / stepCount;
  if (unit === "bytes") {
    return 2 ** Math.ceil(Math.log2(least));
  }
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((factor) => factor * power >= least) ?? 10);
}
