import { readdir, readFile, readlink } from "node:fs/promises";

/** What proc(5) says about a process in `stat`. */
export interface ProcessFacts {
  readonly state: string;
  readonly group: number;
  /** Ticks since the machine started: distinguishes the process from a later one of the same number. */
  readonly startedAt: string;
}

/** Pids of all processes that this one can see. */
export async function listPids(): Promise<readonly string[]> {
  return (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
}

/** Undefined when the process has ended. */
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

/** The variables a process was started with, as `NAME=value`; empty when it has ended or belongs to another user. */
export async function readProcessEnvironment(pid: string): Promise<readonly string[]> {
  return (await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "")).split("\0");
}

/** What a descriptor of a process leads to; empty when it is not open or the process belongs to another user. */
export function readProcessLink(pid: string, name: string): Promise<string> {
  return readlink(`/proc/${pid}/${name}`).catch(() => "");
}

/** Whether a process that was seen before still runs. */
export async function isRunning(pid: string, startedAt: string): Promise<boolean> {
  const facts = await readProcessFacts(pid);
  return facts?.startedAt === startedAt && !["Z", "X"].includes(facts.state);
}
