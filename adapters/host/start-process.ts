import { isMainThread } from "node:worker_threads";
import { loadPosixSpawn } from "./posix-spawn.ts";
import { startByFork } from "./start-by-fork.ts";
import { createStartByPosixSpawn } from "./start-by-posix-spawn.ts";
import type { StartProcess } from "./tool-process.ts";

let chosen: StartProcess | undefined;

/** Starts a program by posix_spawn(3) where that is possible, elsewhere by child_process. Which one is chosen at the first. */
export const startProcess: StartProcess = (program, args, options) => {
  chosen ??= choose();
  return chosen(program, args, options);
};

function choose(): StartProcess {
  // Signals, of which SIGCHLD is needed, reach the main thread only.
  if (process.platform !== "linux" || !isMainThread) {
    return startByFork;
  }
  try {
    return createStartByPosixSpawn(loadPosixSpawn());
  } catch {
    return startByFork;
  }
}
