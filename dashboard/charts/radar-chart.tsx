import {
  Chart,
  Filler,
  Legend,
  LineElement,
  PointElement,
  RadarController,
  RadialLinearScale,
  Tooltip,
} from "chart.js";
import type { ComponentChildren } from "preact";
import { ChartFigure } from "./chart-figure.tsx";
import { fadeColor } from "./fade-color.ts";

Chart.register(RadarController, RadialLinearScale, PointElement, LineElement, Filler, Legend, Tooltip);

/** A score on its axis, from 0 to 100. */
export interface RadarScore {
  readonly axis: string;
  readonly value: number;
}

/** A radar chart of scores: the larger, the better. `children` is the table of the same scores. */
export function RadarChart(props: {
  readonly title: string;
  readonly scores: readonly RadarScore[];
  readonly children: ComponentChildren;
}) {
  const { title, scores, children } = props;
  const words = scores.map(({ axis, value }) => `${axis} ${scoreText(value)}`).join(", ");
  return (
    <ChartFigure<"radar">
      label={`${title}: ${words}`}
      isTableOpen
      configure={({ text, line, series: [color = text] }) => ({
        type: "radar",
        data: {
          labels: scores.map(({ axis }) => axis),
          datasets: [
            {
              label: title,
              data: scores.map(({ value }) => value),
              borderColor: color,
              backgroundColor: fadeColor(color, 0.2),
              pointBackgroundColor: color,
            },
          ],
        },
        options: {
          animation: false,
          maintainAspectRatio: false,
          plugins: { legend: { display: false } },
          scales: {
            r: {
              min: 0,
              max: 100,
              grid: { color: line },
              angleLines: { color: line },
              pointLabels: { color: text, font: { size: 13 } },
              ticks: { stepSize: 25, color: text, showLabelBackdrop: false },
            },
          },
        },
      })}
    >
      {children}
    </ChartFigure>
  );
}

/** Formats a score with at most one decimal, e.g. "86.7". */
export function scoreText(value: number): string {
  return String(Number(value.toFixed(1)));
}
