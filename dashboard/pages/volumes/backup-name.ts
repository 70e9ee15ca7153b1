/** Returns a name for a manual backup, in the format of scheduled ones: "manual-20260131T0100Z". */
export function backupNameAt(date: Date): string {
  return `manual-${date.toISOString().slice(0, "2026-01-31T01:00".length).replaceAll(/[-:]/g, "")}Z`;
}
