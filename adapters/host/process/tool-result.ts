/** Result of a tool, whatever its exit code. */
export interface ToolResult {
  readonly argv: readonly string[];
  /** null if a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  /** The last 16 KiB. */
  readonly stderr: string;
  readonly durationMs: number;
}

/** Facts about a finished tool, for observers. */
export interface ToolEnd extends Omit<ToolResult, "stdout"> {
  readonly kind: "read" | "mutate";
  readonly stdoutBytes: number;
  /** Reason of the error with which `run` rejected; undefined if it returned a result. */
  readonly failure: string | undefined;
}
