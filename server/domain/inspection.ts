/** A result of `hostplane doctor`. */
export interface Finding {
  readonly ok: boolean;
  readonly what: string;
  /** The command or edit that fixes it. Set only when `ok` is false. */
  readonly fix?: string;
}

/** A system, or a part of the gateway itself, that `doctor` can check. */
export interface Inspector {
  /** Heading of the findings, e.g. `lvm`. */
  readonly name: string;
  /** Checks without changing anything. Never throws. */
  inspect(): Promise<{ readonly findings: readonly Finding[] }>;
}

/** Checks of a domain's systems, and the function that releases them. */
export interface Inspection {
  readonly inspectors: readonly Inspector[];
  close(): Promise<void>;
}
