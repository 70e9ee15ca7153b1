const units = [
  { name: "day", ms: 86_400_000 },
  { name: "hour", ms: 3_600_000 },
  { name: "minute", ms: 60_000 },
  { name: "second", ms: 1000 },
  { name: "millisecond", ms: 1 },
] as const;

/**
 * Returns a lifetime in the largest unit that divides it, e.g. `30 days`. Plans name the lifetime of what they create, not its end,
 * which would be another one each time.
 */
export function lifetimeText(ms: number): string {
  const unit = units.find((each) => ms % each.ms === 0) ?? units[4];
  const count = ms / unit.ms;
  return `${count} ${unit.name}${count === 1 ? "" : "s"}`;
}
