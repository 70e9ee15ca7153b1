import { readdirSync, readFileSync } from "node:fs";

/** Returns the CPU time of a process in milliseconds: of all its threads, and of the main one. */
export function readCpuMs(pid: number): { readonly all: number; readonly main: number } {
  const threads = readdirSync(`/proc/${pid}/task`).map((id) => ({
    id: Number(id),
    ms: threadCpuMs(`/proc/${pid}/task/${id}/stat`),
  }));
  return {
    all: threads.reduce((sum, { ms }) => sum + ms, 0),
    main: threads.find(({ id }) => id === pid)?.ms ?? 0,
  };
}

function threadCpuMs(file: string): number {
  const stat = readFileSync(file, "utf8");
  // utime and stime (proc(5)), counted from the field after the name, in hundredths of a second.
  const [, , , , , , , , , , , utime = "", stime = ""] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(utime) + Number(stime)) * 10;
}
