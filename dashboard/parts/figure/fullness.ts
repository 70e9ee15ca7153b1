/** A share from which on something is nearly full, and full. */
const warnPercent = 85;
const fullPercent = 95;

/** How full something is: quiet, warning from 85 %, failed from 95 % on. */
export function fullness(percent: number): "ok" | "warn" | "failed" {
  return percent >= fullPercent ? "failed" : percent >= warnPercent ? "warn" : "ok";
}
