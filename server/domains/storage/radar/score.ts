/** One of the five scores of the radar, with its reasons. */
export interface Score {
  /** From 0 (worst) to 100. */
  readonly value: number;
  /** Reasons for the value, in ASCII, for example `OSD_DOWN -15` or `2 of 3 ready`. */
  readonly because: readonly string[];
}

/** A deduction from a score. */
export interface Deduction {
  readonly what: string;
  /** 0 or more. */
  readonly points: number;
}

/** Returns 100 less the deductions, and never below 0. */
export function scoreWithout(deductions: readonly Deduction[]): Score {
  const taken = deductions.filter(({ points }) => points > 0);
  return {
    value: Math.max(0, 100 - taken.reduce((sum, { points }) => sum + points, 0)),
    because: taken.map(({ what, points }) => `${what} -${pointsText(points)}`),
  };
}

/** Converts a share from 0 to 1 to a score. */
export function scoreOfShare(share: number, because: string): Score {
  return { value: 100 * Math.min(1, Math.max(0, share)), because: [because] };
}

function pointsText(points: number): string {
  return String(Math.round(points * 100) / 100);
}
