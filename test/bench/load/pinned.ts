import { execFile } from "node:child_process";
import { cpus } from "node:os";
import { promisify } from "node:util";

/** The two cores of a benchmark: one for the server, one for the load. */
export const serverCore = 0;
export const loadCore = 1;

/** Returns the argv of a program restricted to one core, if the machine has that core and can restrict programs. */
export function pinned(core: number, argv: readonly [string, ...string[]]): [string, ...string[]] {
  return canPin(core) ? ["taskset", "-c", String(core), ...argv] : [...argv];
}

/** Restricts a running process and its future children to one core. */
export async function pinProcess(pid: number, core: number): Promise<void> {
  if (canPin(core)) {
    await promisify(execFile)("taskset", ["-a", "-p", "-c", String(core), String(pid)]);
  }
}

function canPin(core: number): boolean {
  return process.platform === "linux" && cpus().length > core;
}
