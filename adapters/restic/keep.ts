import type { KeepPolicy } from "./adapter.ts";

/**
 * Returns the moments (ms) that a policy keeps, by restic's rules: the newest ones, and the newest one of each of the
 * newest days and weeks (ISO, local time) that have any.
 */
export function kept(momentsMs: readonly number[], keep: KeepPolicy): ReadonlySet<number> {
  const newestFirst = momentsMs.toSorted((a, b) => b - a);
  const newestOf = (count: number, periodOf: (atMs: number) => string) =>
    [...Map.groupBy(newestFirst, periodOf).values()].slice(0, count).flatMap(([newest = 0]) => [newest]);
  return new Set([
    ...newestFirst.slice(0, keep.last),
    ...newestOf(keep.daily, dayOf),
    ...newestOf(keep.weekly, weekOf),
  ]);
}

function dayOf(atMs: number): string {
  const at = new Date(atMs);
  return `${at.getFullYear()}-${at.getMonth()}-${at.getDate()}`;
}

/** Returns the date of the week's Monday. */
function weekOf(atMs: number): string {
  const at = new Date(atMs);
  at.setDate(at.getDate() - ((at.getDay() + 6) % 7));
  return dayOf(at.getTime());
}
