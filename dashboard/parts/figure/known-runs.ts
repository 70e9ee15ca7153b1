/** Returns the known values with their places, as one list for each part without a gap. */
export function knownRuns(
  values: readonly (number | undefined)[],
): readonly (readonly (readonly [number, number])[])[] {
  const runs: [number, number][][] = [];
  values.forEach((value, index) => {
    if (value !== undefined) {
      if (index === 0 || values[index - 1] === undefined) {
        runs.push([]);
      }
      runs.at(-1)?.push([index, value]);
    }
  });
  return runs;
}
