import type { Signal } from "@preact/signals";
import { axisStep } from "./axis-step.ts";
import { ChartTable } from "./chart-table.tsx";
import { stepPath } from "./step-path.ts";
import { ageText, figuresAt, type Moment, pointsOf } from "./time-series.ts";

/** Units of the drawing, which is stretched to the width and height of its element. */
const [widthUnits, heightUnits] = [300, 100];
const axisSteps = 4;
/** An axis ends here at least, so that its ticks are whole numbers. */
const leastEnd = { bytes: 1024, count: 2 } as const;

/**
 * A chart of the last minutes. A figure is drawn until the next moment; an unknown figure is a gap.
 * @param titles of the one or two series, in the order of each moment's figures
 * @param nowMs where the chart ends
 */
export function LineChart(props: {
  readonly title: string;
  readonly titles: readonly string[];
  readonly moments: readonly Moment[];
  readonly nowMs: number;
  readonly spanMs: number;
  /** Formats a figure with its unit. */
  readonly text: (figure: number) => string;
  readonly unit: "bytes" | "count";
  /** Where the axis ends; by default just above the largest figure. */
  readonly max?: number | undefined;
  /** Where the pointer is, in seconds relative to now; charts that share it show the same time. */
  readonly cursor: Signal<number | undefined>;
}) {
  const { title, titles, moments, nowMs, spanMs, text, unit, max, cursor } = props;
  const known = (figure: number | undefined) => (figure === undefined ? "—" : text(figure));
  const words = (figures: readonly (number | undefined)[]) =>
    titles.map((each, index) => `${each} ${known(figures[index])}`).join(", ");
  const newest = moments.at(-1)?.figures ?? [];
  const at = cursor.value;
  const shown = at === undefined ? newest : (figuresAt(moments, nowMs + at * 1000) ?? []);
  const all = moments.flatMap(({ figures }) => figures.filter((each) => each !== undefined));
  const end = max ?? axisSteps * axisStep(Math.max(leastEnd[unit], ...all), unit);
  return (
    <figure class="chart-figure">
      <figcaption>
        <strong>{title}</strong>
        {at !== undefined && <span class="quiet">{ageText(at)}</span>}
        <span class="legend">
          {titles.map((each, index) => (
            <span key={each} class={`series-${index + 1}`}>
              {each} <strong>{known(shown[index])}</strong>
            </span>
          ))}
        </span>
      </figcaption>
      <div class="chart">
        <div class="y-axis" aria-hidden="true">
          <span>{text(end)}</span>
          <span>{text(end / 2)}</span>
          <span>{text(0)}</span>
        </div>
        <Drawing
          {...props}
          label={`${title}, last ${minutesOf(spanMs)} minutes. Now: ${words(newest)}`}
          end={end}
        />
        <div class="x-axis" aria-hidden="true">
          <span>{ageText(-spanMs / 1000)}</span>
          <span>now</span>
        </div>
      </div>
      <ChartTable title={title} titles={titles} moments={moments} text={text} />
    </figure>
  );
}

function Drawing(props: {
  readonly label: string;
  readonly titles: readonly string[];
  readonly moments: readonly Moment[];
  readonly nowMs: number;
  readonly spanMs: number;
  readonly end: number;
  readonly cursor: Signal<number | undefined>;
}) {
  const { label, titles, moments, nowMs, spanMs, end, cursor } = props;
  const spanSeconds = spanMs / 1000;
  const x = (seconds: number) => (1 + seconds / spanSeconds) * widthUnits;
  const y = (figure: number) => heightUnits * (1 - Math.min(1, figure / end));
  return (
    <svg
      viewBox={`0 0 ${widthUnits} ${heightUnits}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
      onPointerMove={({ currentTarget, clientX }) => {
        const { left, width } = currentTarget.getBoundingClientRect();
        cursor.value = Math.round(Math.min(0, ((clientX - left) / width - 1) * spanSeconds));
      }}
      onPointerLeave={() => {
        cursor.value = undefined;
      }}
    >
      {[0, 0.5, 1].map((share) => (
        <path key={share} class="grid" d={`M0 ${share * heightUnits}H${widthUnits}`} />
      ))}
      {titles.map((title, index) => {
        const { line, area } = stepPath(pointsOf(moments, index, nowMs, spanMs), x, y);
        return (
          <g key={title} class={`series-${index + 1}`}>
            <path class="area" d={area} />
            <path class="line" d={line} />
          </g>
        );
      })}
      {cursor.value !== undefined && <path class="cursor" d={`M${x(cursor.value)} 0V${heightUnits}`} />}
    </svg>
  );
}

function minutesOf(spanMs: number): number {
  return Math.round(spanMs / 60_000);
}
