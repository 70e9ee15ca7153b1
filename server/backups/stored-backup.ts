import type { ResticSnapshot } from "../../adapters/restic/adapter.ts";

/** Tags that the gateway sets on a snapshot of a repository, so that any gateway can identify it. */
export interface BackupMarks {
  readonly backupId: string;
  readonly operationId: string;
  /** In the form `group/volume`. */
  readonly volume: string;
  readonly name: string;
}

/** A snapshot of a repository with the contents of its tags; undefined where they are not the gateway's. */
export type StoredBackup = Pick<ResticSnapshot, "id" | "atMs" | "hostname" | "fileName"> &
  Partial<BackupMarks>;

const tagOf = {
  backupId: "backup",
  operationId: "operation",
  volume: "volume",
  name: "name",
} as const satisfies Record<keyof BackupMarks, string>;

/** Returns the tags of a snapshot with these marks. */
export function tagsFromMarks(marks: BackupMarks): string[] {
  return ["hostplane", ...marksIn(marks).map(([mark, value]) => `${tagOf[mark]}=${value}`)];
}

/** Returns the tag that is unique to the snapshots of this operation. */
export function operationTagOf(operationId: string): string {
  return `${tagOf.operationId}=${operationId}`;
}

/** Returns the tags of all backups that a schedule of a host has made of a volume (`group/volume`). */
export function scheduleTagsOf(schedule: string, host: string, volume: string): string[] {
  return [`schedule=${schedule}`, `host=${host}`, `${tagOf.volume}=${volume}`];
}

/** Reads the tags of a snapshot; those of a snapshot that no gateway has stored are ignored. */
export function storedBackupFrom({ id, atMs, hostname, fileName, tags }: ResticSnapshot): StoredBackup {
  const textOf = (mark: keyof BackupMarks) => {
    const start = `${tagOf[mark]}=`;
    return tags.find((tag) => tag.startsWith(start))?.slice(start.length);
  };
  const isOurs = tags.includes("hostplane");
  const marks = isOurs ? markNames.flatMap((mark) => pairOf(mark, textOf(mark))) : [];
  return { id, atMs, hostname, fileName, ...Object.fromEntries(marks) };
}

const markNames = Object.keys(tagOf) as readonly (keyof BackupMarks)[];

function marksIn(marks: BackupMarks): [keyof BackupMarks, string][] {
  return markNames.map((mark) => [mark, marks[mark]]);
}

function pairOf(mark: keyof BackupMarks, value: string | undefined): [keyof BackupMarks, string][] {
  return value === undefined ? [] : [[mark, value]];
}
