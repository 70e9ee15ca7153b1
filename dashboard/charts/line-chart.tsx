import { Chart, Legend, LinearScale, LineController, LineElement, PointElement, Tooltip } from "chart.js";
import { DataTable } from "../parts/data-table.tsx";
import { TimeText } from "../parts/text/time-text.tsx";
import { axisStep } from "./axis-step.ts";
import { ChartFigure } from "./chart-figure.tsx";
import { ageText, type Moment, pointsOf, tableMoments } from "./time-series.ts";

Chart.register(LineController, LineElement, PointElement, LinearScale, Legend, Tooltip);

/** Dash patterns, so that lines do not differ by colour only. */
const dashes: readonly (readonly number[])[] = [[], [6, 3], [2, 3]];

/**
 * A chart of the last minutes. A figure is drawn until the next moment; an unknown figure is a gap.
 * @param titles of the series, in the order of each moment's figures
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
}) {
  const { title, titles, moments, nowMs, spanMs, text, unit, max } = props;
  const newest = moments.at(-1)?.figures ?? [];
  const known = (figure: number | undefined) => (figure === undefined ? "not known" : text(figure));
  const words = titles.map((each, index) => `${each} ${known(newest[index])}`).join(", ");
  const largest = Math.max(
    0,
    ...moments.flatMap(({ figures }) => figures.filter((each) => each !== undefined)),
  );
  const stepSize = max === undefined ? axisStep(largest, unit) : max / 4;
  return (
    <ChartFigure<"line">
      label={`${title}, last ${Math.round(spanMs / 60_000)} minutes. Now: ${words}`}
      caption={`Now: ${words}`}
      configure={(colors) => ({
        type: "line",
        data: {
          datasets: titles.map((label, index) => ({
            label,
            data: pointsOf(moments, index, nowMs, spanMs),
            borderColor: colors.series[index] ?? colors.text,
            backgroundColor: colors.series[index] ?? colors.text,
            borderDash: [...(dashes[index] ?? [])],
            borderWidth: 2,
            pointRadius: 0,
            stepped: true,
          })),
        },
        options: {
          animation: false,
          maintainAspectRatio: false,
          interaction: { mode: "nearest", axis: "x", intersect: false },
          scales: {
            x: {
              type: "linear",
              min: -spanMs / 1000,
              max: 0,
              grid: { color: colors.line },
              ticks: { color: colors.text, stepSize: 60, callback: (seconds) => ageText(Number(seconds)) },
            },
            y: {
              min: 0,
              max: 4 * stepSize,
              grid: { color: colors.line },
              ticks: { color: colors.text, stepSize, callback: (figure) => text(Number(figure)) },
            },
          },
          plugins: {
            legend: { labels: { color: colors.text, boxHeight: 0 } },
            tooltip: {
              callbacks: {
                title: ([item]) => ageText(item?.parsed.x ?? 0),
                label: ({ dataset, parsed }) => `${dataset.label}: ${known(parsed.y ?? undefined)}`,
              },
            },
          },
        },
      })}
    >
      <DataTable
        caption={`${title}, newest first`}
        columns={[
          { title: "Since", cell: ({ atMs }: Moment) => <TimeText atMs={atMs} /> },
          ...titles.map((each, index) => ({
            title: each,
            isNumber: true,
            cell: ({ figures }: Moment) => known(figures[index]),
          })),
        ]}
        rows={tableMoments(moments)}
        keyOf={({ atMs }) => String(atMs)}
        empty="No data yet."
      />
    </ChartFigure>
  );
}
