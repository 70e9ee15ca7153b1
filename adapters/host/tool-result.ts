import type { ReasonName } from "./reasons.ts";

/** How a tool ended, whatever its exit code. */
export interface ToolResult {
  readonly argv: readonly string[];
  /** null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  /** The last 16 KiB. */
  readonly stderr: string;
  readonly durationMs: number;
}

/** The facts of an ended tool, for observers. */
export interface ToolEnd extends Omit<ToolResult, "stdout"> {
  readonly kind: "read" | "mutate";
  readonly stdoutBytes: number;
  /** Why `run` rejected; undefined when it returned a result. */
  readonly failure: ReasonName | undefined;
}
