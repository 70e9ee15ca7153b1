/** A name for a backup that a person asks for, in the manner of those of schedules: "manual-20260131T0100Z". */
export function backupNameAt(date: Date): string {
  return `manual-${date.toISOString().slice(0, "2026-01-31T01:00".length).replaceAll(/[-:]/g, "")}Z`;
}
