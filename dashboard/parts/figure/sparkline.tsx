import { knownRuns } from "./known-runs.ts";

/** A short line of values over time; gaps are not drawn. @param values in order of time; undefined where nothing is known */
export function Sparkline({
  values,
  label,
}: {
  readonly values: readonly (number | undefined)[];
  readonly label: string;
}) {
  const [width, height] = [76, 20];
  const known = values.filter((value) => value !== undefined);
  if (known.length < 2) {
    return <svg class="spark" width={width} height={height} aria-hidden="true" />;
  }
  const max = Math.max(...known, Number.EPSILON);
  const min = Math.min(0, ...known);
  const x = (index: number) => 2 + (index / (values.length - 1)) * (width - 4);
  const y = (value: number) => height - 2 - ((value - min) / (max - min)) * (height - 4);
  const runs = knownRuns(values).map((run) => run.map(([index, value]) => `${x(index)} ${y(value)}`));
  return (
    <svg class="spark" width={width} height={height} role="img" aria-label={label}>
      {runs.map((run) => (
        <path key={run[0]} d={`M${run.join("L")}`} />
      ))}
    </svg>
  );
}
