const bars = "▁▂▃▄▅▆▇█";

/**
 * Draws values as a line of bars from the smallest to the largest one. Equal values are drawn at the bottom, unknown ones (NaN) as
 * a dot.
 */
export function sparkline(values: readonly number[]): string {
  const known = values.filter((value) => !Number.isNaN(value));
  const min = Math.min(...known);
  const range = Math.max(...known) - min;
  return values.map((value) => barOf(value, min, range)).join("");
}

function barOf(value: number, min: number, range: number): string {
  if (Number.isNaN(value)) {
    return "·";
  }
  const share = range === 0 ? 0 : (value - min) / range;
  return bars[Math.round(share * (bars.length - 1))] ?? "";
}
