import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/** What the names of directories begin with in which a process makes seeds. */
export function seedDirectoryPrefix(pid: number): string {
  return `hostplane-seed-${pid}-`;
}

/** Writing a seed takes no longer. Processes of containers that share the directory are not seen by each other. */
const minimumAgeMs = 10 * 60_000;

/**
 * Removes directories of seeds that a killed gateway has left: those of this user that are older than this process and
 * ten minutes, and whose own process is gone. What cannot be looked at or removed stays.
 */
export async function removeStaleSeeds(parent: string): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  for (const name of names) {
    const [, pid] = /^hostplane-seed-([1-9]\d*)-[A-Za-z0-9]{6}$/.exec(name) ?? [];
    const path = join(parent, name);
    if (pid !== undefined && !isOther(Number(pid)) && (await isOldAndOwn(path))) {
      await rm(path, { recursive: true, force: true }).catch(() => {});
    }
  }
}

/** Whether it is the number of another process. In a container each gateway may have the same as the one before it. */
function isOther(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return pid !== process.pid;
  } catch (error) {
    // EPERM: it runs as another user.
    return error instanceof Error && "code" in error && error.code !== "ESRCH";
  }
}

async function isOldAndOwn(path: string): Promise<boolean> {
  try {
    const facts = await lstat(path);
    const isOwn = facts.isDirectory() && facts.uid === process.getuid?.();
    return isOwn && facts.mtimeMs < Math.min(performance.timeOrigin, Date.now() - minimumAgeMs);
  } catch {
    return false;
  }
}
