import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import type { Test } from "tap";

export interface ToolResult {
  /** null if it was killed by a signal. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ToolOptions {
  readonly cwd?: string;
  /** Variables added to the environment of the test. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
  /** Time after which it is killed; default: 120 s. */
  readonly timeoutMs?: number;
}

/** A running program, such as one that reads a stream. */
export interface RunningTool {
  /** Returns its output so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves once the output matches. @throws Error when it ends, or 10 s pass, before that */
  waitFor(pattern: RegExp): Promise<void>;
  stop(): Promise<void>;
}

/** Runs a program to its end. @throws Error when it cannot be started */
export async function runTool(
  command: string,
  args: readonly string[],
  options: ToolOptions = {},
): Promise<ToolResult> {
  const { child, printed, ended } = start(command, args, options);
  child.stdin.end(options.input);
  const code = await ended;
  return { code, stdout: printed.stdout, stderr: printed.stderr };
}

/** Starts a program that is stopped with the test at the latest. */
export function startTool(
  t: Test,
  command: string,
  args: readonly string[],
  options: ToolOptions = {},
): RunningTool {
  const { child, printed, ended, kill } = start(command, args, options);
  child.stdin.end(options.input);
  const stop = async () => {
    kill();
    await ended;
  };
  t.teardown(stop);
  return {
    stdout: () => printed.stdout,
    stderr: () => printed.stderr,
    async waitFor(pattern) {
      const timeout = AbortSignal.timeout(60_000);
      const isOver = ended.then(() => "ended");
      while (!pattern.test(printed.stdout)) {
        const data = once(child.stdout, "data", { signal: timeout });
        if ((await Promise.race([data, isOver])) === "ended" && !pattern.test(printed.stdout)) {
          throw new Error(`${command} ended before ${pattern}: ${printed.stdout}${printed.stderr}`);
        }
      }
    },
    stop,
  };
}

function start(command: string, args: readonly string[], options: ToolOptions) {
  // In its own process group: buf is a script that starts the program, and would leave it running.
  const child: ChildProcessWithoutNullStreams = spawn(command, args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    detached: true,
  });
  const printed = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    printed.stderr += text;
  });
  // The tool may not read its input.
  child.stdin.on("error", () => {});
  let isOver = false;
  const kill = () => {
    if (isOver || child.pid === undefined) {
      return;
    }
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has just ended; its output still has to be read.
    }
  };
  const timer = setTimeout(kill, options.timeoutMs ?? 120_000);
  const ended = once(child, "close")
    .then(([code]) => code as number | null)
    .finally(() => {
      isOver = true;
      clearTimeout(timer);
    });
  return { child, printed, ended, kill };
}
