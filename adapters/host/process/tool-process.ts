import type { Readable, Writable } from "node:stream";

/** An open file, such as a FileHandle. The code that opened it closes it. */
export interface OpenFile {
  readonly fd: number;
}

/** A tool's stdin, stdout and stderr: a pipe, nothing, or an open file. */
export interface ToolStdio {
  readonly stdin: "pipe" | "ignore" | number;
  readonly stdout: "pipe" | number;
  readonly stderr: "pipe" | number;
}

/** Options and callbacks of a tool. None of the callbacks is called before `StartProcess` has returned. */
export interface ProcessOptions extends ToolStdio {
  /** Its complete environment. The program is looked up in its PATH. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Called if the tool was never started; no other callback follows. The cause has a `code` such as ENOENT if the
   * system refused.
   */
  readonly onFailure: (cause: unknown) => void;
  /**
   * Called when the process itself has exited; one of the two arguments is null. Its pipes may still hold output, or be
   * open in a descendant.
   */
  readonly onExit: (code: number | null, signal: NodeJS.Signals | null) => void;
  /** Called when it has exited and all pipes are closed; the last callback. */
  readonly onClose: () => void;
}

/** A tool that is running or about to start. */
export interface ToolProcess {
  /** The pipes, or null. Stdout and stderr must be read, or `onClose` is never called. */
  readonly stdin: Writable | null;
  readonly stdout: Readable | null;
  readonly stderr: Readable | null;
  /**
   * Sends a signal to its process group, even after the tool itself has exited; does nothing once the group is gone. A
   * signal sent before the start ends the tool: either it does not start at all, which is reported as an exit by that
   * signal, or it receives the signal immediately.
   */
  killGroup(signal: NodeJS.Signals): void;
  /** Lets the gateway exit without waiting for the tool. */
  unref(): void;
}

/**
 * Starts a program without a shell, as the leader of its own session and process group, with no signal blocked or
 * ignored.
 * @throws Error with a `code`, if it is known at once that the program cannot be started
 */
export type StartProcess = (program: string, args: readonly string[], options: ProcessOptions) => ToolProcess;

/** Returns the stdin option for no input, bytes, a source or an open file. Bytes and sources are written to a pipe. */
export function stdinOf(
  input: Uint8Array | OpenFile | AsyncIterable<Uint8Array> | undefined,
): ToolStdio["stdin"] {
  if (input === undefined) {
    return "ignore";
  }
  return "fd" in input ? input.fd : "pipe";
}

/** Sends a signal to all processes of the group that a tool leads; does nothing once they are gone. */
export function killGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) {
    return;
  }
  try {
    process.kill(-pid, signal);
  } catch {
    // ESRCH: the group is already gone. EPERM: it runs as another user, as with sudo.
  }
}

/** Closes pipes that a descendant of a reading tool still has open; SIGPIPE ends the descendant at its next write. */
export function releasePipes(child: ToolProcess | undefined): void {
  child?.stdout?.destroy();
  child?.stderr?.destroy();
  child?.unref();
}
