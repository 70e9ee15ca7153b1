import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";

const prefix = ".hostplane-backup-";
const keyLength = 32;

/**
 * Derives a key of fixed length from a token, for the paths of a backup: paths of unix sockets have at most 107 bytes.
 */
function keyOf(token: string): string {
  return createHash("sha256").update(token).digest("hex").slice(0, keyLength);
}

/** Returns the directory of a backup, in which QEMU creates the socket from which its disks are read. */
export function backupDirectory(parent: string, token: string): string {
  return join(parent, `${prefix}${keyOf(token)}`);
}

/** Returns the unix socket in that directory on which QEMU serves the disks of the backup by NBD. */
export function backupSocket(parent: string, token: string): string {
  return join(backupDirectory(parent, token), "nbd");
}

/** Reports whether a socket path from a backup's XML belongs to this token, whatever the directory of its gateway. */
export function isBackupOf(token: string, socketPath: string): boolean {
  return basename(dirname(socketPath)) === `${prefix}${keyOf(token)}`;
}

/**
 * Returns the path of the file that keeps the data of a disk that the guest overwrites meanwhile. libvirt creates it,
 * and deletes it at the end.
 */
export function scratchPath(directory: string, token: string, target: string): string {
  return join(directory, `${prefix}${keyOf(token)}-${target}`);
}

/** Reports whether a volume of a pool is the scratch file of a backup. */
export function isScratchName(name: string): boolean {
  return /^\.hostplane-backup-[0-9a-f]{32}-/.test(name);
}
