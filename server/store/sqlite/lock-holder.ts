import { readFileSync, statSync } from "node:fs";

/** First byte that SQLite locks: PENDING_BYTE of its file format (https://www.sqlite.org/lockingv3.html). */
const firstLockByte = 0x40000000;

/**
 * Returns the ID of the process that has locked the database file. Undefined where the system is not Linux, or the process is
 * hidden, e.g. in another container.
 */
export function lockHolder(file: string): number | undefined {
  try {
    return parseLockHolder(readFileSync("/proc/locks", "utf8"), statSync(file).ino);
  } catch {
    return undefined;
  }
}

/**
 * Finds the process that has an SQLite file open in the text of `/proc/locks` (proc_locks(5)), with lines such as
 * `1: POSIX  ADVISORY  WRITE 4711 fd:01:123456 1073741826 1073742335`.
 */
export function parseLockHolder(locks: string, inode: number): number | undefined {
  for (const line of locks.split("\n")) {
    const [, type, , , pid = "", place = "", start = ""] = line.trim().split(/\s+/);
    const isOurs =
      type === "POSIX" && place.split(":")[2] === String(inode) && Number(start) >= firstLockByte;
    if (isOurs && Number(pid) > 0) {
      return Number(pid);
    }
  }
  return undefined;
}
