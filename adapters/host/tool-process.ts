import type { Readable, Writable } from "node:stream";

/** An open file; a FileHandle is one. Whoever opened it closes it. */
export interface OpenFile {
  readonly fd: number;
}

/** What becomes a tool's stdin, stdout and stderr: a pipe, nothing, or an open file. */
export interface ToolStdio {
  readonly stdin: "pipe" | "ignore" | number;
  readonly stdout: "pipe" | number;
  readonly stderr: "pipe" | number;
}

/** What a tool is started with, and who is told of it. None of the functions is called before `StartProcess` has returned. */
export interface ProcessOptions extends ToolStdio {
  /** All of its environment. Its PATH is where the program is looked for. */
  readonly env: Readonly<Record<string, string>>;
  /** It was never started; nothing else is told then. The cause has a `code` such as ENOENT where the system refused. */
  readonly onFailure: (cause: unknown) => void;
  /** Its own end, of which one of both tells; its pipes may still have something, or be held by a descendant. */
  readonly onExit: (code: number | null, signal: NodeJS.Signals | null) => void;
  /** It has ended and all pipes are closed; the last that is told. */
  readonly onClose: () => void;
}

/** A tool that is started, or is about to be. */
export interface ToolProcess {
  /** The pipes, or null. Stdout and stderr are to be read, else `onClose` never comes. */
  readonly stdin: Writable | null;
  readonly stdout: Readable | null;
  readonly stderr: Readable | null;
  /**
   * Sends a signal to its group, also when itself has ended; to nobody once they are gone. One that comes before the start
   * ends it: either it does not start at all, which is told as an end by that signal, or it gets the signal at once.
   */
  killGroup(signal: NodeJS.Signals): void;
  /** Lets the gateway end without it. */
  unref(): void;
}

/**
 * Starts a program without a shell, as the leader of its own session and process group, with no signal blocked or ignored.
 * @throws Error with a `code`, when it is clear at once that it cannot be started
 */
export type StartProcess = (program: string, args: readonly string[], options: ProcessOptions) => ToolProcess;

/** The stdin for an input of nothing, of bytes that are written to it, of what is read meanwhile, or of an open file. */
export function stdinOf(
  input: Uint8Array | OpenFile | AsyncIterable<Uint8Array> | undefined,
): ToolStdio["stdin"] {
  if (input === undefined) {
    return "ignore";
  }
  return "fd" in input ? input.fd : "pipe";
}

/** Sends a signal to all processes of the group that a tool leads; to nobody once they are gone. */
export function killGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) {
    return;
  }
  try {
    process.kill(-pid, signal);
  } catch {
    // ESRCH: the group is already gone. EPERM: it runs as another user, as under sudo.
  }
}

/** Lets go of pipes that a descendant of a reading tool still holds; what it writes then ends it by SIGPIPE. */
export function releasePipes(child: ToolProcess | undefined): void {
  child?.stdout?.destroy();
  child?.stderr?.destroy();
  child?.unref();
}
