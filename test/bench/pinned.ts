import { execFile } from "node:child_process";
import { cpus } from "node:os";
import { promisify } from "node:util";

/** Of a bench's two cores: servers have one to themselves, and what loads them the other. */
export const serverCore = 0;
export const loadCore = 1;

/** argv of a program that keeps to one core, where there are as many and a way to say so. */
export function pinned(core: number, argv: readonly [string, ...string[]]): [string, ...string[]] {
  return canPin(core) ? ["taskset", "-c", String(core), ...argv] : [...argv];
}

/** Has a process that runs keep to one core from now on, with what it starts. */
export async function pinProcess(pid: number, core: number): Promise<void> {
  if (canPin(core)) {
    await promisify(execFile)("taskset", ["-a", "-p", "-c", String(core), String(pid)]);
  }
}

function canPin(core: number): boolean {
  return process.platform === "linux" && cpus().length > core;
}
