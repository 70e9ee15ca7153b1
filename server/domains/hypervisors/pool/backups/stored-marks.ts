import type { ResticSnapshot } from "../../../../../adapters/restic/adapter.ts";
import { storedBackupFrom, tagsFromMarks } from "../../../../backups/stored-backup.ts";

/** A volume as it was stored. */
export type StoredVolume = {
  readonly backupId: string;
  readonly snapshotId: string;
  /** When the volume was as it is stored. */
  readonly atMs: number;
  /** How many bytes there were to store. */
  readonly sizeBytes: number;
};

/** What is written on the snapshot of a volume. */
export interface VolumeMarks extends Omit<StoredVolume, "snapshotId"> {
  readonly operationId: string;
  /** Of the backup. */
  readonly name: string;
  readonly poolName: string;
  readonly volume: string;
}

const atStart = "at=";
const sizeStart = "size=";
const maxVolumeLength = 280;

/** Tags by which a volume is known in the repository; what tags cannot hold of its name is left out of them. */
export function tagsOfVolume(marks: VolumeMarks): string[] {
  const { backupId, operationId, name, atMs, sizeBytes } = marks;
  const volume = `${marks.poolName}/${marks.volume}`
    .replaceAll(/[^\w.:=/+@-]/g, "_")
    .slice(0, maxVolumeLength);
  return [
    ...tagsFromMarks({ backupId, operationId, volume, name }),
    `${atStart}${atMs}`,
    `${sizeStart}${sizeBytes}`,
  ];
}

/** What the tags of a snapshot say; undefined where it is none of a volume of the pool. */
export function storedVolumeFrom(snapshot: ResticSnapshot): StoredVolume | undefined {
  const { backupId } = storedBackupFrom(snapshot);
  const numberOf = (start: string) =>
    Number(snapshot.tags.find((tag) => tag.startsWith(start))?.slice(start.length));
  const [atMs, sizeBytes] = [numberOf(atStart), numberOf(sizeStart)];
  return backupId === undefined || !Number.isSafeInteger(atMs) || !Number.isSafeInteger(sizeBytes)
    ? undefined
    : { backupId, snapshotId: snapshot.id, atMs, sizeBytes };
}
