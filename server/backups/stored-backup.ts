import type { ResticSnapshot } from "../../adapters/restic/adapter.ts";

/** What the gateway writes on a snapshot of a repository, so that any gateway can tell what it is of. */
export interface BackupMarks {
  readonly backupId: string;
  readonly operationId: string;
  /** As `group/volume`. */
  readonly volume: string;
  readonly name: string;
}

/** A snapshot of a repository with what its tags say; undefined where it is not the gateway's. */
export type StoredBackup = Pick<ResticSnapshot, "id" | "atMs" | "hostname" | "fileName"> &
  Partial<BackupMarks>;

const tagOf = {
  backupId: "backup",
  operationId: "operation",
  volume: "volume",
  name: "name",
} as const satisfies Record<keyof BackupMarks, string>;

/** The tags of a snapshot with these marks. */
export function tagsFromMarks(marks: BackupMarks): string[] {
  return ["hostplane", ...marksIn(marks).map(([mark, value]) => `${tagOf[mark]}=${value}`)];
}

/** The one tag that only the snapshots of this operation have. */
export function operationTagOf(operationId: string): string {
  return `${tagOf.operationId}=${operationId}`;
}

/** The tags that all backups have which a schedule of a host has made of a volume, given as `group/volume`. */
export function scheduleTagsOf(schedule: string, host: string, volume: string): string[] {
  return [`schedule=${schedule}`, `host=${host}`, `${tagOf.volume}=${volume}`];
}

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
