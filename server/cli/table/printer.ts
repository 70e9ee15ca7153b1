import type { Table, View } from "./view.ts";

/** Formats of `-o`. */
export const formats = ["table", "json", "yaml", "name"] as const;

export type Format = (typeof formats)[number];

/** Prints the results of a command in the requested format. */
export interface Printer {
  readonly format: Format;
  /** Whether a person reads stdout. */
  readonly isTerminal: boolean;
  /** Prints a line of text, whatever the format. */
  out(line: string): void;
  /** Prints a remark or an error on stderr. */
  err(line: string): void;
  /** Prints a message as the only document. */
  document(json: unknown): void;
  /** Prints one of several documents: a line of JSON, or a YAML document. */
  documentInStream(json: unknown): void;
  /** @param below lines below each row */
  table(table: Table, below?: readonly (readonly string[])[]): void;
  view(view: View): void;
  /** Shows a line that the next one replaces on a terminal; elsewhere it is printed if it has changed. */
  progress(line: string, fraction?: number): void;
  /** Resolves when stdout has room again, or when the signal aborts. */
  drained(signal: AbortSignal): Promise<void>;
}
