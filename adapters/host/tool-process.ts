import type { Readable } from "node:stream";

/** An open file; a FileHandle is one. Whoever opened it closes it. */
export interface OpenFile {
  readonly fd: number;
}

/** What `spawn` takes for a stdin of nothing, of bytes that are written to it, of what is read meanwhile, or of an open file. */
export function stdinOf(
  input: Uint8Array | OpenFile | AsyncIterable<Uint8Array> | undefined,
): "ignore" | "pipe" | number {
  if (input === undefined) {
    return "ignore";
  }
  return "fd" in input ? input.fd : "pipe";
}

/** What is needed of a ChildProcess; only run.ts makes one. */
interface ToolProcess {
  readonly stdout: Readable | null;
  readonly stderr: Readable | null;
  unref(): void;
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

/**
 * Lets go of pipes that a descendant still holds. Those of a mutating tool are drained on, since closing
 * them would end their writer by SIGPIPE; they no longer keep the gateway running.
 */
export function releasePipes(child: ToolProcess | undefined, kind: "read" | "mutate"): void {
  for (const stream of [child?.stdout, child?.stderr]) {
    if (kind === "read") {
      stream?.destroy();
    } else if (stream !== null && stream !== undefined && "unref" in stream) {
      (stream.unref as () => void)();
    }
  }
  child?.unref();
}
