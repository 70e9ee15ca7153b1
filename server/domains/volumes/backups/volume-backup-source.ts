import type { BackupSource, RestoreRequest } from "../../../backups/backup-source.ts";
import { resourceOf } from "../../../backups/stored-backup-plans.ts";
import type { StoredBackups } from "../../../backups/stored-backups.ts";
import type { BeginnableChange } from "../../../domain/long-change.ts";
import type { NewVolume } from "../changes/create-volume.ts";
import { bytesPerGiB, sizeGbFromBytes } from "../size.ts";
import { volumeBackupFacts } from "./backup-facts.ts";
import { tooSmall } from "./fill-steps.ts";
import type { VolumeRestoreRequest } from "./restore-volume.ts";

/** Creates the source of volume backups for hostplane.v1.BackupService. A restore is the same operation as in CreateLV. */
export function createVolumeBackupSource(
  { repositoryOf, ...stored }: StoredBackups,
  restore: BeginnableChange<VolumeRestoreRequest>,
): BackupSource {
  const requestOf = (request: RestoreRequest): VolumeRestoreRequest => ({
    volume: largeEnough(request),
    named: repositoryOf(request),
    findKey: async () => request.row.key_name,
  });
  return {
    ...volumeBackupFacts,
    isOn: true,
    ...stored,
    restore: {
      plan: async (request, requester) => restore.plan(requestOf(request), requester),
      begin: async (request, call) => restore.begin(requestOf(request), call),
    },
  };
}

/** @throws InfraError VOLUME_TOO_SMALL */
function largeEnough({ row, spec }: RestoreRequest): NewVolume {
  const backupBytes = BigInt(row.size_bytes);
  const sizeGb = spec.sizeGb === 0n ? sizeGbFromBytes(backupBytes) : spec.sizeGb;
  if (sizeGb * bytesPerGiB < backupBytes) {
    throw tooSmall(resourceOf(row), backupBytes, sizeGb * bytesPerGiB);
  }
  const { name, deviceClass, tags } = spec;
  return { name, deviceClass, tags, size: { gib: sizeGb }, nameField: "volume_name" };
}
