import type { Point } from "./time-series.ts";

/** The paths of a line whose value stays until the next point, and of the area below it. */
export interface StepPath {
  readonly line: string;
  readonly area: string;
}

/**
 * Draws a line as a path of SVG; an unknown value is a gap.
 * @param points in order of time
 * @param x converts a point's time to a coordinate
 * @param y converts a value to a coordinate
 */
export function stepPath(
  points: readonly Point[],
  x: (seconds: number) => number,
  y: (value: number) => number,
): StepPath {
  let line = "";
  let area = "";
  let startX: number | undefined;
  const end = (atX: number) => {
    if (startX !== undefined) {
      line += `H${atX}`;
      area += `H${atX}V${y(0)}H${startX}Z`;
      startX = undefined;
    }
  };
  for (const point of points) {
    const atX = round(x(point.x));
    if (point.y === null) {
      end(atX);
      continue;
    }
    const atY = round(y(point.y));
    const step = startX === undefined ? `M${atX} ${atY}` : `H${atX}V${atY}`;
    startX ??= atX;
    line += step;
    area += step;
  }
  end(round(x(points.at(-1)?.x ?? 0)));
  return { line, area };
}

function round(coordinate: number): number {
  return Math.round(coordinate * 100) / 100;
}
