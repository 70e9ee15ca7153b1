import { isMainThread } from "node:worker_threads";
import { loadPosixSpawn } from "./posix-spawn.ts";
import { startByFork } from "./start-by-fork.ts";
import { createStartByPosixSpawn } from "./start-by-posix-spawn.ts";
import type { StartProcess } from "./tool-process.ts";

let chosen: StartProcess | undefined;

/**
 * Starts a program with posix_spawn(3) where available, otherwise with child_process. The choice is made at the first
 * call.
 */
export const startProcess: StartProcess = (program, args, options) => {
  chosen ??= choose();
  return chosen(program, args, options);
};

function choose(): StartProcess {
  // Only the main thread receives signals, and SIGCHLD is needed.
  if (process.platform !== "linux" || !isMainThread) {
    return startByFork;
  }
  try {
    return createStartByPosixSpawn(loadPosixSpawn());
  } catch {
    return startByFork;
  }
}
