import type { ResticSnapshot } from "../../../../../adapters/restic/adapter.ts";
import { storedBackupFrom, tagsFromMarks } from "../../../../backups/stored-backup.ts";

/** A stored volume. */
export type StoredVolume = {
  readonly backupId: string;
  readonly snapshotId: string;
  /** Point in time of the stored content. */
  readonly atMs: number;
  /** Bytes to store; a snapshot of another size is incomplete. */
  readonly sizeBytes: number;
};

/** Data that is stored in the tags of a volume's snapshot. */
export interface VolumeMarks extends Omit<StoredVolume, "snapshotId"> {
  readonly operationId: string;
  /** Name of the backup. */
  readonly name: string;
  readonly poolName: string;
  readonly volume: string;
}

const atStart = "at=";
const sizeStart = "size=";
const maxVolumeLength = 280;

/** Returns the tags of a volume's snapshot. Characters of its name that tags cannot contain become `_`; long names are cut. */
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

/** Parses the tags of a snapshot; undefined if it is not of a volume of the pool. */
export function storedVolumeFrom(snapshot: ResticSnapshot): StoredVolume | undefined {
  const { backupId } = storedBackupFrom(snapshot);
  const numberOf = (start: string) =>
    Number(snapshot.tags.find((tag) => tag.startsWith(start))?.slice(start.length));
  const [atMs, sizeBytes] = [numberOf(atStart), numberOf(sizeStart)];
  return backupId === undefined || !Number.isSafeInteger(atMs) || !Number.isSafeInteger(sizeBytes)
    ? undefined
    : { backupId, snapshotId: snapshot.id, atMs, sizeBytes };
}
