const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Formats a time by its distance from now: "now", "12 min ago", "5 h ago", "3 d ago", "in 12 min". */
export function agoText(atMs: number, nowMs: number): string {
  const distanceMs = nowMs - atMs;
  const text = distanceText(Math.abs(distanceMs));
  return text === "" ? "now" : distanceMs >= 0 ? `${text} ago` : `in ${text}`;
}

function distanceText(ms: number): string {
  if (ms < 5_000) {
    return "";
  }
  if (ms < minuteMs) {
    return `${Math.floor(ms / 1000)} s`;
  }
  if (ms < hourMs) {
    return `${Math.floor(ms / minuteMs)} min`;
  }
  return ms < 2 * dayMs ? `${Math.floor(ms / hourMs)} h` : `${Math.floor(ms / dayMs)} d`;
}
