import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/** Returns the name prefix of the directories in which a process creates seeds. */
export function seedDirectoryPrefix(pid: number): string {
  return `hostplane-seed-${pid}-`;
}

/** Longer than writing a seed takes. Processes of containers that share the directory cannot see each other. */
const minimumAgeMs = 10 * 60_000;

/**
 * Removes seed directories left behind by a killed gateway: those of this user that are older than this process and
 * older than ten minutes, and whose process is gone. Those that cannot be read or removed stay.
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

/**
 * Reports whether the pid belongs to another running process. In a container, each gateway may have the pid of its
 * predecessor.
 */
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
