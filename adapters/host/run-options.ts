import type { OpenFile } from "./tool-process.ts";
import type { ToolEnd } from "./tool-result.ts";

/** What every tool is started with. */
interface CommonRunOptions {
  /** Variables on top of PATH, HOME and LC_ALL=C; nothing else of the gateway's environment is passed on. */
  readonly env?: Readonly<Record<string, string>>;
  /** Most bytes of stdout that are kept; 16 MiB unless told. */
  readonly maxStdoutBytes?: number;
  /** Told of stderr as it comes, before anything is taken out of it. Must not throw. */
  readonly onStderr?: (chunk: Buffer) => void;
  /** Takes secrets out of stderr before observers get it; the result has it as it is. Must not throw. */
  readonly redact?: (stderr: string) => string;
  /** Called once for each tool, however it ended; for logs and metrics. Must not throw. */
  readonly onToolEnd?: ((end: ToolEnd) => void) | undefined;
  /** What the tool is, for observers; the program's file name alone unless told. */
  readonly tool?: { readonly program: string; readonly subcommand: string };
  /** The argv that observers get, which does the same from a shell; the one that is run unless given. */
  readonly shownArgv?: readonly string[];
}

/** A tool that changes nothing: it may be stopped at any time. */
export interface ReadRunOptions extends CommonRunOptions {
  readonly kind: "read";
  /**
   * Where stdout goes instead of into the result: an open file, or a function called with each chunk. While a promise of the
   * function's is open nothing is read, so that the tool has to wait; a chunk that was on its way may come. A function that
   * fails stops the tool.
   */
  readonly output?: OpenFile | ((chunk: Buffer) => void | Promise<void>);
  /**
   * The tool's stdin: these bytes, an open file, whose bytes do not pass through here, or a source that is read at the tool's
   * pace; a tool whose source fails is stopped before it could take that for the end. /dev/null unless told.
   */
  readonly input?: Uint8Array | OpenFile | AsyncIterable<Uint8Array>;
  /** From the start to the first signal. */
  readonly timeoutMs?: number;
  /** Stops the tool. Its reason becomes the error if that is an InfraError, otherwise CALLER_LEFT. */
  readonly signal?: AbortSignal | undefined;
  /** What the tool is first asked to stop with; SIGTERM unless told. */
  readonly stopSignal?: "SIGINT" | "SIGTERM";
}

/**
 * A tool that changes something: nothing here ever kills it, so it takes no timeout. It goes on to its end even if the gateway
 * dies: its output goes to files in memory, not to pipes.
 */
export interface MutateRunOptions extends CommonRunOptions {
  readonly kind: "mutate";
  /** The tool's stdin: an open file; /dev/null when absent. Not bytes: the end of a dead gateway's pipe is no end of data. */
  readonly input?: OpenFile;
  /**
   * Where stdout goes instead of into the result: an open file, which must not be one that can fill up, or a function called
   * with what was printed in the last quarter of a second. Must not throw.
   */
  readonly output?: OpenFile | ((chunk: Buffer) => void);
  /**
   * Asks the tool once, by SIGTERM, to stop where it can, and waits for its end however long that takes; only for a tool
   * that is made to be interrupted. How it ended is a result as any other.
   */
  readonly stop?: AbortSignal | undefined;
}

export type RunOptions = ReadRunOptions | MutateRunOptions;
