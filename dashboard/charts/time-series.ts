/** Figures at one moment; undefined where a figure is unknown. */
export interface Moment {
  readonly atMs: number;
  readonly figures: readonly (number | undefined)[];
}

/** A point of a line: seconds relative to now (negative), and the figure, or null for a gap. */
export interface Point {
  readonly x: number;
  readonly y: number | null;
}

/** Moments closer than this are merged: the chart could not show them apart. */
const closestMs = 1_000;

/** Maximum number of rows of a table. */
const tableRows = 20;

/** Returns the moments with a new one added and those older than `spanMs` removed. */
export function withMoment(moments: readonly Moment[], added: Moment, spanMs: number): readonly Moment[] {
  const before = moments.at(-2);
  const isClose = before !== undefined && added.atMs - before.atMs < closestMs;
  const kept = isClose ? moments.slice(0, -1) : moments;
  // One moment from before the span has the figures at its start.
  const beginMs = added.atMs - spanMs;
  const firstSeen = kept.findIndex(({ atMs }) => atMs > beginMs);
  return [...(firstSeen === -1 ? kept.slice(-1) : kept.slice(Math.max(0, firstSeen - 1))), added];
}

/** Returns one figure of each moment as a line, from the first moment in the span to now. The last figure continues until now. */
export function pointsOf(moments: readonly Moment[], index: number, nowMs: number, spanMs: number): Point[] {
  const points = moments.map(({ atMs, figures }) => ({
    x: Math.min(0, Math.max(-spanMs, atMs - nowMs)) / 1000,
    y: figures[index] ?? null,
  }));
  const last = points.at(-1);
  return last === undefined ? [] : [...points, { x: 0, y: last.y }];
}

/** Returns the figures that applied at a time; undefined before the first moment. */
export function figuresAt(moments: readonly Moment[], atMs: number): Moment["figures"] | undefined {
  return moments.findLast((moment) => moment.atMs <= atMs)?.figures;
}

/** Returns the moments at which something changed, newest first, up to the number of table rows. */
export function tableMoments(moments: readonly Moment[]): readonly Moment[] {
  return moments
    .filter(({ figures }, index) => figures.some((figure, at) => figure !== moments[index - 1]?.figures[at]))
    .toReversed()
    .slice(0, tableRows);
}

/** Formats seconds relative to now: "now", "-30 s", "-2 min". */
export function ageText(seconds: number): string {
  const age = Math.round(-seconds);
  if (age === 0) {
    return "now";
  }
  return age % 60 === 0 ? `-${age / 60} min` : `-${age} s`;
}
