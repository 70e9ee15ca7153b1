/** The colours of the page as they are now, for what is drawn and cannot refer to CSS. */
export interface ChartColors {
  readonly text: string;
  readonly line: string;
  /** One for each series of a chart, in order. */
  readonly series: readonly string[];
}

const seriesVariables = ["--accent", "--warn", "--ok"] as const;

/** Reads the variables of dashboard/style/base.css, in light or dark. */
export function readChartColors(element: HTMLElement): ChartColors {
  return {
    text: resolveColor(element, "--quiet"),
    line: resolveColor(element, "--line"),
    series: seriesVariables.map((name) => resolveColor(element, name)),
  };
}

/** A variable's own value is still `light-dark(…)`; as the colour of an element it is what the scheme makes of it. */
function resolveColor(element: HTMLElement, variable: string): string {
  const before = element.style.color;
  element.style.color = `var(${variable})`;
  const { color } = getComputedStyle(element);
  element.style.color = before;
  return color;
}
