import { readFileSync } from "node:fs";

/** Memory of a process, as reported by Linux. */
export interface ProcessMemory {
  readonly rssBytes: number;
  /** Private memory; the rest are pages of files, most of them of the program. */
  readonly ownBytes: number;
}

export function readProcessMemory(pid: number): ProcessMemory {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const bytesOf = (key: string) => Number(new RegExp(`^${key}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) * 1024;
  return { rssBytes: bytesOf("VmRSS"), ownBytes: bytesOf("RssAnon") };
}
