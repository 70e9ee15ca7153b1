import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { knownRuns } from "../parts/figure/known-runs.ts";
import { localClock } from "../parts/text/local-time.ts";
import { axisStep } from "./axis-step.ts";
import { ChartTable } from "./chart-table.tsx";
import { useWidth } from "./use-width.ts";

/** An event on a chart. */
export interface ChartMark {
  readonly atMs: number;
  readonly kind: "failed" | "warn" | "change";
  readonly text: string;
}

/** In pixels: the drawing is as wide as its place, so that its texts have their size on a phone too. */
const [usualWidth, height, left, bottom] = [720, 160, 72, 34];
const gridLines = 2;
const tickPx = 80;
/** Height of the marks' lane below the axis. */
const laneY = height - 6;

/** One figure over the last 24 hours, with marks for what happened. Gaps are times without data. */
export function HistoryChart(props: {
  readonly title: string;
  readonly values: readonly (number | undefined)[];
  readonly startMs: number;
  readonly intervalMs: number;
  readonly unit: string;
  readonly text: (value: number) => string;
  /** Drawn dashed, such as the size of a volume. */
  readonly limit?: number | undefined;
  readonly marks: readonly ChartMark[];
}) {
  const { title, values, startMs, intervalMs, unit, text, limit, marks } = props;
  const at = useSignal<number | undefined>(undefined);
  const drawing = useRef<SVGSVGElement>(null);
  const width = useWidth(drawing, usualWidth);
  const isBytes = unit.startsWith("bytes");
  const known = values.filter((value) => value !== undefined);
  const step = axisStep(Math.max(isBytes ? 1024 : 2, limit ?? 0, ...known), isBytes ? "bytes" : "count");
  const top = step * 4;
  const x = (index: number) => left + (index / Math.max(1, values.length - 1)) * (width - left - 8);
  const y = (value: number) => 8 + (1 - Math.min(1, value / top)) * (height - 8 - bottom);
  const indexOf = (ms: number) => (ms - startMs) / intervalMs;
  const newest = values.findLast((value) => value !== undefined);
  const value = at.value === undefined ? newest : values[at.value];
  return (
    <figure class="history-chart">
      <figcaption class="row between">
        <strong>{title}</strong>
        <span class="soft">
          {at.value !== undefined && `${localClock(new Date(startMs + at.value * intervalMs))}: `}
          {value === undefined ? "—" : text(value)}
        </span>
      </figcaption>
      <svg
        ref={drawing}
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`${title}, last 24 hours. Now: ${newest === undefined ? "not known" : text(newest)}`}
        onPointerMove={({ currentTarget, clientX }) => {
          const box = currentTarget.getBoundingClientRect();
          const share = (((clientX - box.left) / box.width) * width - left) / (width - left - 8);
          at.value = Math.max(0, Math.min(values.length - 1, Math.round(share * (values.length - 1))));
        }}
        onPointerLeave={() => {
          at.value = undefined;
        }}
      >
        {Array.from({ length: gridLines + 1 }, (_, line) => (line / gridLines) * top).map((each) => (
          <g key={each}>
            <path class="grid" d={`M${left} ${y(each)}H${width - 8}`} />
            <text x={left - 8} y={y(each) + 4} text-anchor="end">
              {text(each)}
            </text>
          </g>
        ))}
        {ticksOf(values.length, Math.floor((width - left) / tickPx)).map((index) => (
          <text key={index} x={x(index)} y={height - bottom + 16}>
            {localClock(new Date(startMs + index * intervalMs)).slice(0, 5)}
          </text>
        ))}
        {limit !== undefined && <path class="limit" d={`M${left} ${y(limit)}H${width - 8}`} />}
        {knownRuns(values).map((run) => {
          const line = run.map(([index, each]) => `${x(index)} ${y(each)}`).join("L");
          const [first] = run[0] ?? [0];
          const [last] = run.at(-1) ?? [0];
          return (
            <g key={first} class="series-1">
              <path class="area" d={`M${x(first)} ${y(0)}L${line}L${x(last)} ${y(0)}Z`} />
              <path class="line" d={`M${line}`} />
            </g>
          );
        })}
        {at.value !== undefined && <path class="cursor" d={`M${x(at.value)} 8V${height - bottom}`} />}
        {marks
          .filter(({ atMs }) => atMs >= startMs)
          .map((mark) => (
            <circle
              key={`${mark.atMs} ${mark.text}`}
              class={`mark ${mark.kind}`}
              cx={x(Math.min(values.length - 1, indexOf(mark.atMs)))}
              cy={laneY}
              r="3.5"
            >
              <title>
                {localClock(new Date(mark.atMs))} {mark.text}
              </title>
            </circle>
          ))}
      </svg>
      <ChartTable
        title={title}
        titles={[title]}
        moments={values.map((each, index) => ({ atMs: startMs + index * intervalMs, figures: [each] }))}
        text={text}
      />
    </figure>
  );
}

/** Places of the times on the axis; fewer for a history of minutes. @param ticks how many have room */
function ticksOf(count: number, ticks: number): readonly number[] {
  return [
    ...new Set(
      Array.from({ length: ticks }, (_, tick) => Math.floor((tick / ticks) * Math.max(0, count - 1))),
    ),
  ];
}
