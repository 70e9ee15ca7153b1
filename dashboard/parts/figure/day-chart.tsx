import { knownRuns } from "./known-runs.ts";

const [width, height] = [192, 56];

/** A small chart of one figure over a day: its name, its value now, and a line with an area. */
export function DayChart(props: {
  readonly title: string;
  readonly values: readonly (number | undefined)[];
  readonly startMs: number;
  readonly intervalMs: number;
  readonly text: (value: number) => string;
  /** Times of problems, milliseconds since 1970. */
  readonly marks: readonly number[];
}) {
  const { title, values, startMs, intervalMs, text, marks } = props;
  const newest = values.findLast((value) => value !== undefined);
  const max = Math.max(...values.map((value) => value ?? 0), Number.EPSILON);
  const x = (index: number) => 2 + (index / Math.max(1, values.length - 1)) * (width - 4);
  const y = (value: number) => 4 + (1 - value / max) * (height - 8);
  return (
    <div class="day-chart">
      <span class="quiet small">{title}</span>
      <strong>{newest === undefined ? "—" : text(newest)}</strong>
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`${title}, last 24 hours`}>
        {knownRuns(values).map((run) => {
          const line = run.map(([index, value]) => `${x(index)} ${y(value)}`).join("L");
          const [first] = run[0] ?? [0];
          const [last] = run.at(-1) ?? [0];
          return (
            <g key={first} class="series-1">
              <path class="area" d={`M${x(first)} ${y(0)}L${line}L${x(last)} ${y(0)}Z`} />
              <path class="line" d={`M${line}`} />
            </g>
          );
        })}
        {marks
          .map((atMs) => (atMs - startMs) / intervalMs)
          .filter((index) => index >= 0 && index <= values.length)
          .map((index) => (
            <path key={index} class="problem" d={`M${x(index)} 0l4 4-4 4-4-4Z`} />
          ))}
      </svg>
    </div>
  );
}
