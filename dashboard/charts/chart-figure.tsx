import { Chart, type ChartConfiguration, type ChartType } from "chart.js";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { type ChartColors, readChartColors } from "./chart-colors.ts";

/**
 * A chart with a text alternative: `label` for screen readers, and `children`, a table, for the exact figures. The parts of
 * chart.js that the configuration uses have to be registered.
 * @param configure called at each rendering, and when the colour scheme changes
 */
export function ChartFigure<Type extends ChartType>(props: {
  readonly label: string;
  readonly configure: (colors: ChartColors) => ChartConfiguration<Type>;
  /** Shown above the chart. */
  readonly caption?: string;
  /** Whether the table is open at first. */
  readonly isTableOpen?: boolean;
  readonly children: ComponentChildren;
}) {
  const { label, configure, caption, isTableOpen = false, children } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const draw = useRef(() => {});
  const latest = useRef(configure);
  latest.current = configure;

  useEffect(() => {
    const element = canvas.current;
    if (element === null) {
      return;
    }
    const chart = new Chart(element, latest.current(readChartColors(element)));
    draw.current = () => {
      const { data, options } = latest.current(readChartColors(element));
      chart.data = data;
      if (options !== undefined) {
        chart.options = options;
      }
      chart.update("none");
    };
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const redraw = () => draw.current();
    scheme.addEventListener("change", redraw);
    return () => {
      scheme.removeEventListener("change", redraw);
      draw.current = () => {};
      chart.destroy();
    };
  }, []);
  useEffect(() => draw.current());

  return (
    <figure class="chart-figure">
      {caption !== undefined && <figcaption class="quiet">{caption}</figcaption>}
      <div class="chart">
        <canvas ref={canvas} role="img" aria-label={label} />
      </div>
      <details open={isTableOpen}>
        <summary>As a table</summary>
        {children}
      </details>
    </figure>
  );
}
