/** One thing `doctor` looked at. */
export interface Finding {
  readonly ok: boolean;
  readonly what: string;
  /** The command or edit that would mend it; only where `ok` is false. */
  readonly fix?: string;
}

/** One system, or one part of the gateway itself, that `doctor` can look at. */
export interface Inspector {
  /** What the findings are listed under, e.g. `lvm`. */
  readonly name: string;
  /** Touches nothing. Never throws. */
  inspect(): Promise<{ readonly findings: readonly Finding[] }>;
}
