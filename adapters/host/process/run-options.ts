import type { OpenFile } from "./tool-process.ts";
import type { ToolEnd } from "./tool-result.ts";

/** Options of every tool. */
interface CommonRunOptions {
  /** Variables in addition to PATH, HOME and LC_ALL=C; no others of the gateway's environment are passed on. */
  readonly env?: Readonly<Record<string, string>>;
  /** Maximum number of stdout bytes to keep; 16 MiB by default. */
  readonly maxStdoutBytes?: number;
  /** Receives stderr as it arrives, before redaction. Must not throw. */
  readonly onStderr?: (chunk: Buffer) => void;
  /** Removes secrets from stderr before observers get it; the result has it unredacted. Must not throw. */
  readonly redact?: (stderr: string) => string;
  /** Called once for each tool, however it ended; for logs and metrics. Must not throw. */
  readonly onToolEnd?: ((end: ToolEnd) => void) | undefined;
  /** Identifies the tool for observers; by default, only the program's file name. */
  readonly tool?: { readonly program: string; readonly subcommand: string };
  /** The argv for observers, which does the same from a shell; by default the argv that is run. */
  readonly shownArgv?: readonly string[];
}

/** Options of a tool that changes nothing and may be stopped at any time. */
export interface ReadRunOptions extends CommonRunOptions {
  readonly kind: "read";
  /**
   * Destination of stdout, instead of the result: an open file, or a function called with each chunk. While the
   * function's promise is pending, nothing more is read and the tool has to wait; a chunk already received may still be
   * delivered. If the function fails, the tool is stopped.
   */
  readonly output?: OpenFile | ((chunk: Buffer) => void | Promise<void>);
  /**
   * The tool's stdin: these bytes; an open file, which the tool reads directly; or a source that is read at the tool's
   * pace. If the source fails, the tool is stopped before it could mistake that for the end of the data. /dev/null by
   * default.
   */
  readonly input?: Uint8Array | OpenFile | AsyncIterable<Uint8Array>;
  /** Time from the start to the first signal. */
  readonly timeoutMs?: number;
  /** Stops the tool. Its reason becomes the error if that is an InfraError, otherwise CALLER_LEFT. */
  readonly signal?: AbortSignal | undefined;
  /** The first signal that stops the tool; SIGTERM by default. */
  readonly stopSignal?: "SIGINT" | "SIGTERM";
}

/**
 * Options of a tool that changes something. It is never killed and has no timeout. It runs to completion even if the
 * gateway dies, since its output goes to files in memory, not to pipes.
 */
export interface MutateRunOptions extends CommonRunOptions {
  readonly kind: "mutate";
  /**
   * The tool's stdin: an open file; /dev/null if absent. Not bytes, since a pipe that closes because the gateway died
   * would look like the end of the data.
   */
  readonly input?: OpenFile;
  /**
   * Destination of stdout, instead of the result: an open file, which must be unable to fill up, or a function called
   * with the output of the last quarter of a second. Must not throw.
   */
  readonly output?: OpenFile | ((chunk: Buffer) => void);
  /**
   * Asks the tool once, with SIGTERM, to stop where it can, and then waits for it without a limit. Only for tools
   * designed to be interrupted. The outcome is a normal result.
   */
  readonly stop?: AbortSignal | undefined;
}

export type RunOptions = ReadRunOptions | MutateRunOptions;
