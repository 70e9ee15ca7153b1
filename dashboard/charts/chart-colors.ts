/** The current colours of the page, for a canvas, which cannot refer to CSS. */
export interface ChartColors {
  readonly text: string;
  readonly line: string;
  /** One colour per series of a chart, in order. */
  readonly series: readonly string[];
}

const seriesVariables = ["--accent", "--warn", "--ok"] as const;

/** Reads the variables of dashboard/style/base.css, for light or dark. */
export function readChartColors(element: HTMLElement): ChartColors {
  return {
    text: resolveColor(element, "--quiet"),
    line: resolveColor(element, "--line"),
    series: seriesVariables.map((name) => resolveColor(element, name)),
  };
}

/** The variable itself is still `light-dark(…)`; setting it as an element's colour resolves it for the current scheme. */
function resolveColor(element: HTMLElement, variable: string): string {
  const before = element.style.color;
  element.style.color = `var(${variable})`;
  const { color } = getComputedStyle(element);
  element.style.color = before;
  return color;
}
