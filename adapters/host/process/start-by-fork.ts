import { spawn } from "node:child_process";
import { killGroup, type StartProcess } from "./tool-process.ts";

/**
 * Starts a process with Node's own child_process, which blocks the event loop while the kernel copies the gateway's
 * page tables: some milliseconds with a heap of a gigabyte.
 */
export const startByFork: StartProcess = (program, args, options) => {
  const { env, stdin, stdout, stderr, onFailure, onExit, onClose } = options;
  const child = spawn(program, args, { detached: true, env, stdio: [stdin, stdout, stderr] });
  child.on("error", (cause) => {
    // Also emitted when a signal cannot be sent; only a program that never started has no pid.
    if (child.pid === undefined) {
      onFailure(cause);
    }
  });
  child.on("exit", onExit);
  child.on("close", () => {
    // Also emitted for a process that failed to start.
    if (child.pid !== undefined) {
      onClose();
    }
  });
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    killGroup: (signal) => killGroup(child.pid, signal),
    unref: () => child.unref(),
  };
};
