type Values = readonly (number | undefined)[];

/** Adds up the values of several series at each time. Where one value is unknown, the sum is unknown. */
export function sumValues(series: readonly Values[]): Values {
  const [first = []] = series;
  return first.map((_, index) =>
    series.reduce<number | undefined>((sum, values) => {
      const value = values[index];
      return sum === undefined || value === undefined ? undefined : sum + value;
    }, 0),
  );
}
