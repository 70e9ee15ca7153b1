import { basename } from "node:path";
import { InfraError } from "../infra-error.ts";
import { type ToolObservation, toolChannel } from "../observation.ts";
import { hostReasons } from "../reasons.ts";
import { createHeadCollector, createTailCollector } from "./output-collector.ts";
import { type OutputFiles, openOutputFiles } from "./output-files.ts";
import type { RunOptions } from "./run-options.ts";
import { startProcess } from "./start-process.ts";
import { environmentOf } from "./tool-environment.ts";
import { errorFromReader, errorFromSignal, errorFromSource, errorFromSpawn } from "./tool-errors.ts";
import { toolMarkOf } from "./tool-mark.ts";
import { releasePipes, stdinOf, type ToolProcess } from "./tool-process.ts";
import type { ToolEnd, ToolResult } from "./tool-result.ts";
import { feed, readAtPace } from "./tool-streams.ts";

const defaultMaxStdoutBytes = 16 * 1024 * 1024;
const maxStderrBytes = 16 * 1024;
// SIGTERM, half a second, SIGKILL: the process group is gone within a second of the abort.
const killAfterMs = 500;
// Time to wait for output after the tool has exited (or has survived SIGKILL).
const drainMs = 125;

/**
 * Starts a tool and waits for it to end. Nothing else in the gateway starts programs. No shell is involved: argv
 * reaches the program unchanged. The tool leads its own session and process group.
 *
 * A reading tool that is aborted, too slow or exceeds its output limit gets SIGTERM (or `stopSignal`) and, 500 ms
 * later, SIGKILL, as does its whole process group. A mutating tool is never killed, and runs to completion even if the
 * gateway dies: its output goes to files in memory; output beyond the limit is dropped. If a reading tool has exited
 * while a descendant still has its output open, the run ends a quarter of a second later with the output so far. Each
 * tool is marked in its environment, so that a later gateway finds it (`left-tools.ts`).
 *
 * Any exit code is a result, for the caller to interpret. Runs are reported on `toolChannel`.
 * @throws InfraError TOOL_MISSING (cannot be started), TOOL_TIMEOUT, CALLER_LEFT (or the signal's own
 *   InfraError), TOOL_OUTPUT (a reading tool exceeded `maxStdoutBytes`), TOOL_FAILED (the system refused to start a
 *   process, or a source of its stdin failed with an error other than an InfraError; an InfraError is rethrown)
 */
export function run(argv: readonly string[], options: RunOptions): Promise<ToolResult> {
  const [program, ...args] = argv;
  if (program === undefined) {
    throw new TypeError("run: argv is empty");
  }
  if (!toolChannel.hasSubscribers) {
    return start(program, args, options);
  }
  const { tool = { program: basename(program), subcommand: "" }, kind, shownArgv = argv } = options;
  const observation: ToolObservation = { ...tool, kind, argv: shownArgv, outcome: undefined };
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
  let child: ToolProcess | undefined;
  let files: OutputFiles | undefined;
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
    files?.close();
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
    child?.killGroup(readOptions?.stopSignal ?? "SIGTERM");
    after(killAfterMs, () => {
      child?.killGroup("SIGKILL");
      // A process in uninterruptible sleep outlives SIGKILL; its caller must not wait for the disk.
      after(drainMs, abandon);
    });
  }

  function abandon(): void {
    releasePipes(child);
    settle();
  }

  function onDescendantHoldsPipe(): void {
    // A slow reader still gets the output that the tool left in the pipe.
    if (isReaderWaiting() && failure === undefined) {
      after(drainMs, () => after(drainMs, onDescendantHoldsPipe));
      return;
    }
    child?.killGroup("SIGKILL");
    abandon();
  }

  function fail(cause: unknown): void {
    failure ??= errorFromSpawn(program, cause);
    settle();
  }

  function onExit(code: number | null, signal: NodeJS.Signals | null): void {
    exit = { code, signal };
    // The leader may exit on SIGTERM while a descendant ignores it.
    if (failure !== undefined) {
      child?.killGroup("SIGKILL");
    }
    // Twice, because timers run before input in a turn of the event loop: after a stall, the first wait may be over
    // although the last output is still unread in the pipe.
    after(drainMs, () => after(drainMs, onDescendantHoldsPipe));
  }

  function onAbort(): void {
    if (readOptions?.signal !== undefined) {
      stop(errorFromSignal(readOptions.signal, program));
    }
  }

  function onStop(): void {
    child?.killGroup("SIGTERM");
  }

  function stopInTime(): void {
    readOptions?.signal?.addEventListener("abort", onAbort, { once: true });
    stopGently?.addEventListener("abort", onStop, { once: true });
    if (stopGently?.aborted === true) {
      onStop();
    }
    const timeoutMs = readOptions?.timeoutMs;
    if (timeoutMs !== undefined) {
      after(timeoutMs, () => stop(errorFromTimeout(timeoutMs, program)));
    }
  }

  const collect = (chunk: Buffer) => {
    if (!settled && !stdout.add(chunk) && options.kind === "read") {
      const limit = options.maxStdoutBytes ?? defaultMaxStdoutBytes;
      stop(new InfraError(hostReasons.TOOL_OUTPUT, `${program} printed more than ${limit} bytes`));
    }
  };
  const collectErrors = (chunk: Buffer) => {
    if (!settled) {
      stderr.add(chunk);
      options.onStderr?.(chunk);
    }
  };
  const takeOutput = typeof output === "function" ? output : collect;

  try {
    if (options.kind === "mutate") {
      const isTaken = typeof output !== "object";
      files = openOutputFiles({ stdout: isTaken ? takeOutput : undefined, stderr: collectErrors });
    }
    child = startProcess(program, args, {
      env: { ...environmentOf(options.env), ...toolMarkOf(options) },
      stdin: stdinOf(input),
      stdout: typeof output === "object" ? output.fd : (files?.stdout ?? "pipe"),
      stderr: files?.stderr ?? "pipe",
      onFailure: fail,
      onExit,
      onClose: settle,
    });
  } catch (cause) {
    fail(cause);
    return promise;
  }

  if (child.stdout !== null) {
    const onFailure = (cause: unknown) => stop(errorFromReader(cause, program));
    isReaderWaiting = readAtPace(child.stdout, takeOutput, onFailure);
  }
  child.stderr?.on("data", collectErrors);
  for (const stream of [child.stdin, child.stdout, child.stderr]) {
    // EPIPE when the tool closes its stdin early; its exit code shows whether that mattered.
    stream?.on("error", () => {});
  }
  stopFeeding = writeInput(child, input, (cause) => stop(errorFromSource(cause, program)));

  stopInTime();
  return promise;
}

/** Writes what the tool reads from stdin. Returns a function that stops writing. */
function writeInput(
  { stdin }: ToolProcess,
  input: RunOptions["input"],
  onFailure: (cause: unknown) => void,
): () => void {
  if (input instanceof Uint8Array) {
    stdin?.end(input);
  } else if (input !== undefined && Symbol.asyncIterator in input && stdin !== null) {
    return feed(stdin, input, onFailure);
  }
  return () => {};
}

function errorFromTimeout(timeoutMs: number, program: string): InfraError {
  return new InfraError(hostReasons.TOOL_TIMEOUT, `${program} did not finish within ${timeoutMs} ms`);
}
