import { readdir, readFile, readlink } from "node:fs/promises";

/** Fields of a process in proc(5)'s `stat`. */
export interface ProcessFacts {
  readonly state: string;
  readonly group: number;
  /** Clock ticks since boot: distinguishes the process from a later one with the same pid. */
  readonly startedAt: string;
}

/** Lists the pids of all visible processes. */
export async function listPids(): Promise<readonly string[]> {
  return (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
}

/** Reads a process's `stat`; undefined if the process has ended. */
export async function readProcessFacts(pid: string): Promise<ProcessFacts | undefined> {
  return parseProcessStat(await readFile(`/proc/${pid}/stat`, "latin1").catch(() => ""));
}

/** Parses `/proc/PID/stat`: `4711 (name of (any) kind) S <parent> <group> ...`, where the start time is field 22. */
export function parseProcessStat(text: string): ProcessFacts | undefined {
  const [, state, , group, ...rest] = text.slice(text.lastIndexOf(")")).split(" ");
  const startedAt = rest[16];
  return state === undefined || startedAt === undefined
    ? undefined
    : { state, group: Number(group), startedAt };
}

/**
 * Reads the variables that a process was started with, as `NAME=value`; empty if it has ended or belongs to another
 * user.
 */
export async function readProcessEnvironment(pid: string): Promise<readonly string[]> {
  return (await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "")).split("\0");
}

/** Reads the target of a process's descriptor; empty if it is not open or the process belongs to another user. */
export function readProcessLink(pid: string, name: string): Promise<string> {
  return readlink(`/proc/${pid}/${name}`).catch(() => "");
}

/** Reports whether a process seen earlier is still running. */
export async function isRunning(pid: string, startedAt: string): Promise<boolean> {
  const facts = await readProcessFacts(pid);
  return facts?.startedAt === startedAt && !["Z", "X"].includes(facts.state);
}
