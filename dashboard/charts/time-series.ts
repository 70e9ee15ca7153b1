/** Figures that were told at a moment; undefined where one was not known. */
export interface Moment {
  readonly atMs: number;
  readonly figures: readonly (number | undefined)[];
}

/** A point of a line: seconds before now, which are negative, and the figure, or null for a gap. */
export interface Point {
  readonly x: number;
  readonly y: number | null;
}

/** Moments that come closer together are taken for one: nobody could see them apart. */
const closestMs = 1_000;

/** So many rows a table has at most. */
const tableRows = 20;

/** The moments with a new one, and without those that are not seen any more in the last `spanMs`. */
export function withMoment(moments: readonly Moment[], added: Moment, spanMs: number): readonly Moment[] {
  const before = moments.at(-2);
  const isClose = before !== undefined && added.atMs - before.atMs < closestMs;
  const kept = isClose ? moments.slice(0, -1) : moments;
  // One from before the span says what held at its beginning.
  const beginMs = added.atMs - spanMs;
  const firstSeen = kept.findIndex(({ atMs }) => atMs > beginMs);
  return [...(firstSeen === -1 ? kept.slice(-1) : kept.slice(Math.max(0, firstSeen - 1))), added];
}

/** One figure of each moment as a line from the first moment in the span to now; the last figure holds until now. */
export function pointsOf(moments: readonly Moment[], index: number, nowMs: number, spanMs: number): Point[] {
  const points = moments.map(({ atMs, figures }) => ({
    x: Math.min(0, Math.max(-spanMs, atMs - nowMs)) / 1000,
    y: figures[index] ?? null,
  }));
  const last = points.at(-1);
  return last === undefined ? [] : [...points, { x: 0, y: last.y }];
}

/** The moments at which something has changed, newest first, as many as a table shows. */
export function tableMoments(moments: readonly Moment[]): readonly Moment[] {
  return moments
    .filter(({ figures }, index) => figures.some((figure, at) => figure !== moments[index - 1]?.figures[at]))
    .toReversed()
    .slice(0, tableRows);
}

/** Seconds before now in words: "now", "-30 s", "-2 min". */
export function ageText(seconds: number): string {
  const age = Math.round(-seconds);
  if (age === 0) {
    return "now";
  }
  return age % 60 === 0 ? `-${age / 60} min` : `-${age} s`;
}
