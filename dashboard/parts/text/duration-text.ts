/** Formats a duration with at most two units: "340 ms", "1.4 s", "2 min 5 s", "3 h 10 min", "2 d 4 h". */
export function durationText(ms: number): string {
  if (ms < 1000) {
    return `${Math.max(0, Math.round(ms))} ms`;
  }
  if (ms < 9_950) {
    return `${Number((ms / 1000).toFixed(1))} s`;
  }
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (minutes === 0) {
    return `${seconds} s`;
  }
  if (hours === 0) {
    return twoUnits(minutes, "min", seconds % 60, "s");
  }
  return days === 0 ? twoUnits(hours, "h", minutes % 60, "min") : twoUnits(days, "d", hours % 24, "h");
}

function twoUnits(count: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${count} ${unit}` : `${count} ${unit} ${rest} ${restUnit}`;
}
