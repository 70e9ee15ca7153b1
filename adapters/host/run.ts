import { type ChildProcess, spawn } from "node:child_process";
import { basename } from "node:path";
import { InfraError } from "./infra-error.ts";
import { type ToolObservation, toolChannel } from "./observation.ts";
import { createHeadCollector, createTailCollector } from "./output-collector.ts";
import type { ReasonName } from "./reasons.ts";
import { environmentOf } from "./tool-environment.ts";
import { errorFromSignal, errorFromSource, errorFromSpawn } from "./tool-errors.ts";
import { killGroup, type OpenFile, releasePipes, stdinOf } from "./tool-process.ts";
import { feed, readAtPace } from "./tool-streams.ts";

/** What every tool is started with. */
interface CommonRunOptions {
  /** Variables on top of PATH, HOME and LC_ALL=C; nothing else of the gateway's environment is passed on. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Where stdout goes instead of into the result: an open file, or a function told of each chunk, which must not throw. While
   * a promise of the function's is open nothing is read, so that the tool has to wait; a chunk that was on its way may come.
   */
  readonly output?: OpenFile | ((chunk: Buffer) => void | Promise<void>);
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
}

/** A tool that changes nothing: it may be stopped at any time. */
export interface ReadRunOptions extends CommonRunOptions {
  readonly kind: "read";
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

/** A tool that changes something: nothing here ever kills it, so it takes no timeout. */
export interface MutateRunOptions extends CommonRunOptions {
  readonly kind: "mutate";
  /** The tool's stdin: these bytes, or an open file, whose bytes do not pass through here. /dev/null unless told. */
  readonly input?: Uint8Array | OpenFile;
  /**
   * Asks the tool once, by SIGTERM, to stop where it can, and waits for its end however long that takes; only for a tool
   * that is made to be interrupted. How it ended is a result as any other.
   */
  readonly stop?: AbortSignal | undefined;
}

export type RunOptions = ReadRunOptions | MutateRunOptions;

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
  readonly kind: RunOptions["kind"];
  readonly stdoutBytes: number;
  /** Why `run` rejected; undefined when it returned a result. */
  readonly failure: ReasonName | undefined;
}

const defaultMaxStdoutBytes = 16 * 1024 * 1024;
const maxStderrBytes = 16 * 1024;
// SIGTERM, half a second, SIGKILL: the process group is gone within a second of the abort.
const killAfterMs = 500;
// How long output is awaited once it can no longer come from the tool itself (or the tool defies SIGKILL).
const drainMs = 125;

/**
 * Starts a tool and waits for its end: the only place of the gateway that starts a program. Never a shell:
 * argv reaches the program as it is. The tool leads its own session and process group.
 *
 * A reading tool that is aborted, too slow or too talkative gets SIGTERM (or `stopSignal`) and, 500 ms later, SIGKILL, and
 * with it its whole process group. A mutating tool is never killed; output beyond the limit is dropped.
 * A tool that has exited while a descendant still holds its output ends a quarter of a second later, with the output so far.
 *
 * Any exit code is a result, to be judged by the caller. Observers are told by `toolChannel`.
 * @throws InfraError TOOL_MISSING (cannot be started), TOOL_TIMEOUT, CALLER_LEFT (or the signal's own
 *   InfraError), TOOL_OUTPUT (a reading tool passed `maxStdoutBytes`), TOOL_FAILED (the system refused to
 *   start a process; a source of its stdin failed with something else than an InfraError, which would be the error)
 */
export function run(argv: readonly string[], options: RunOptions): Promise<ToolResult> {
  const [program, ...args] = argv;
  if (program === undefined) {
    throw new TypeError("run: argv is empty");
  }
  if (!toolChannel.hasSubscribers) {
    return start(program, args, options);
  }
  const { tool = { program: basename(program), subcommand: "" }, kind } = options;
  const observation: ToolObservation = { ...tool, kind, argv, outcome: undefined };
  const onToolEnd = (end: ToolEnd) => {
    observation.outcome = end;
    options.onToolEnd?.(end);
  };
  return toolChannel.tracePromise(() => start(program, args, { ...options, onToolEnd }), observation);
}

function start(program: string, args: readonly string[], options: RunOptions): Promise<ToolResult> {
  const readOptions = options.kind === "read" ? options : undefined;
  const stopGently = options.kind === "mutate" ? options.stop : undefined;
  if (readOptions?.signal?.aborted === true) {
    return Promise.reject(errorFromSignal(readOptions.signal, program));
  }

  const { promise, resolve, reject } = Promise.withResolvers<ToolResult>();
  const startedAtMs = performance.now();
  const stdout = createHeadCollector(options.maxStdoutBytes ?? defaultMaxStdoutBytes);
  const stderr = createTailCollector(maxStderrBytes);
  const { input, output, redact = (text: string) => text } = options;
  const timers = new Set<NodeJS.Timeout>();
  let child: ChildProcess | undefined;
  let failure: InfraError | undefined;
  let exit: { readonly code: number | null; readonly signal: NodeJS.Signals | null } | undefined;
  let settled = false;
  let stopFeeding = () => {};
  let isReaderWaiting = () => false;

  function after(delayMs: number, action: () => void): void {
    timers.add(setTimeout(action, delayMs));
  }

  function settle(): void {
    if (settled) {
      return;
    }
    settled = true;
    stopFeeding();
    for (const timer of timers) {
      clearTimeout(timer);
    }
    readOptions?.signal?.removeEventListener("abort", onAbort);
    stopGently?.removeEventListener("abort", onStop);
    const facts = {
      argv: [program, ...args],
      exitCode: exit?.code ?? null,
      signal: exit?.signal ?? null,
      stderr: stderr.text(),
      durationMs: performance.now() - startedAtMs,
    };
    options.onToolEnd?.({
      ...facts,
      stderr: redact(facts.stderr),
      kind: options.kind,
      stdoutBytes: stdout.seenBytes(),
      failure: failure?.reason,
    });
    if (failure === undefined) {
      resolve({ ...facts, stdout: stdout.text() });
    } else {
      reject(failure);
    }
  }

  function stop(error: InfraError): void {
    if (failure !== undefined || settled) {
      return;
    }
    failure = error;
    killGroup(child?.pid, readOptions?.stopSignal ?? "SIGTERM");
    after(killAfterMs, () => {
      killGroup(child?.pid, "SIGKILL");
      // A process in uninterruptible sleep outlives SIGKILL; its caller must not wait for the disk.
      after(drainMs, abandon);
    });
  }

  function abandon(): void {
    releasePipes(child, options.kind);
    settle();
  }

  function onDescendantHoldsPipe(): void {
    // What the tool has left in the pipe is still for a reader that takes its time.
    if (isReaderWaiting() && failure === undefined) {
      after(drainMs, () => after(drainMs, onDescendantHoldsPipe));
      return;
    }
    if (options.kind === "read") {
      killGroup(child?.pid, "SIGKILL");
    }
    abandon();
  }

  function onAbort(): void {
    if (readOptions?.signal !== undefined) {
      stop(errorFromSignal(readOptions.signal, program));
    }
  }

  function onStop(): void {
    killGroup(child?.pid, "SIGTERM");
  }

  try {
    child = spawn(program, args, {
      detached: true,
      env: environmentOf(options.env),
      stdio: [stdinOf(input), typeof output === "object" ? output.fd : "pipe", "pipe"],
    });
  } catch (cause) {
    failure = errorFromSpawn(program, cause);
    settle();
    return promise;
  }

  child.on("error", (cause) => {
    // Also emitted when a signal cannot be sent; only a program that never started has no pid.
    if (child?.pid !== undefined) {
      return;
    }
    failure = errorFromSpawn(program, cause);
    settle();
  });
  child.on("exit", (code, signal) => {
    exit = { code, signal };
    // The leader may go on SIGTERM while a descendant ignores it.
    if (failure !== undefined) {
      killGroup(child?.pid, "SIGKILL");
    }
    // Twice, because timers come before input in a turn of the event loop: after a stall the first wait may be
    // over although the last output lies in the pipe unread.
    after(drainMs, () => after(drainMs, onDescendantHoldsPipe));
  });
  child.on("close", settle);
  const collect = (chunk: Buffer) => {
    if (!settled && !stdout.add(chunk) && options.kind === "read") {
      const limit = options.maxStdoutBytes ?? defaultMaxStdoutBytes;
      stop(new InfraError("TOOL_OUTPUT", `${program} printed more than ${limit} bytes`));
    }
  };
  if (child.stdout !== null) {
    isReaderWaiting = readAtPace(child.stdout, typeof output === "function" ? output : collect);
  }
  child.stderr?.on("data", (chunk: Buffer) => {
    if (!settled) {
      stderr.add(chunk);
      options.onStderr?.(chunk);
    }
  });
  for (const stream of [child.stdin, child.stdout, child.stderr]) {
    // EPIPE when the tool closes its stdin early: its exit code tells whether that mattered.
    stream?.on("error", () => {});
  }
  if (input instanceof Uint8Array) {
    child.stdin?.end(input);
  } else if (input !== undefined && Symbol.asyncIterator in input && child.stdin !== null) {
    stopFeeding = feed(child.stdin, input, (cause) => stop(errorFromSource(cause, program)));
  }

  readOptions?.signal?.addEventListener("abort", onAbort, { once: true });
  stopGently?.addEventListener("abort", onStop, { once: true });
  if (stopGently?.aborted === true) {
    onStop();
  }
  if (readOptions?.timeoutMs !== undefined) {
    const { timeoutMs } = readOptions;
    after(timeoutMs, () =>
      stop(new InfraError("TOOL_TIMEOUT", `${program} did not answer within ${timeoutMs} ms`)),
    );
  }
  return promise;
}
