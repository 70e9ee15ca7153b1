import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";

const prefix = ".hostplane-backup-";
const keyLength = 32;

/** What paths of a backup have of its token, of one length: paths of unix sockets have at most 107 bytes. */
function keyOf(token: string): string {
  return createHash("sha256").update(token).digest("hex").slice(0, keyLength);
}

/** A directory of a backup's own, in which QEMU makes the socket that its disks are read by. */
export function backupDirectory(parent: string, token: string): string {
  return join(parent, `${prefix}${keyOf(token)}`);
}

export function backupSocket(parent: string, token: string): string {
  return join(backupDirectory(parent, token), "nbd");
}

/** Whether the XML of a backup is of one with this token, wherever its gateway keeps such directories. */
export function isBackupOf(token: string, socketPath: string): boolean {
  return basename(dirname(socketPath)) === `${prefix}${keyOf(token)}`;
}

/** The file that keeps what the guest overwrites of a disk meanwhile. libvirt makes it, and deletes it at the end. */
export function scratchPath(directory: string, token: string, target: string): string {
  return join(directory, `${prefix}${keyOf(token)}-${target}`);
}

/** Whether a volume of a pool is such a file. */
export function isScratchName(name: string): boolean {
  return /^\.hostplane-backup-[0-9a-f]{32}-/.test(name);
}
