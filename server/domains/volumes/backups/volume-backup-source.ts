import type { BackupSource, WantedRestore } from "../../../backups/backup-source.ts";
import type { BackupRow } from "../../../backups/store/backups.ts";
import { nothingToDo, resourceOf } from "../../../backups/stored-backup-plans.ts";
import type { StoredBackups } from "../../../backups/stored-backups.ts";
import type { NewVolume } from "../changes/create-volume.ts";
import { bytesPerGiB, sizeGbFromBytes } from "../size.ts";
import { volumeBackupFacts } from "./backup-facts.ts";
import type { BackupParts } from "./backup-parts.ts";
import { createBackupPlans } from "./backup-plans.ts";
import { tooSmall } from "./fill-steps.ts";
import { restoreKindName } from "./restore-kind.ts";
import type { RestoreVolume } from "./restore-volume.ts";

/** Creates the source of volume backups for hostplane.v1.BackupService. A restore is the same operation as in CreateLV. */
export function createVolumeBackupSource(
  { repositoryOf, ...stored }: StoredBackups,
  restoreVolume: RestoreVolume,
  commands: Pick<BackupParts, "lvm" | "restic">,
): BackupSource {
  const plans = createBackupPlans(commands);
  return {
    ...volumeBackupFacts,
    isOn: true,
    ...stored,

    async restore(row, wanted, access, asker) {
      const sized = largeEnough(row, wanted);
      return restoreVolume.begin(sized, repositoryOf(row, access), row.key_name, asker);
    },

    async planRestore(row, wanted, access, signal) {
      const sized = largeEnough(row, wanted);
      const { resource, begins } = await restoreVolume.planBegin(sized, repositoryOf(row, access), signal);
      return begins === undefined ? nothingToDo(restoreKindName, resource) : plans.restore(begins);
    },
  };
}

/** @throws InfraError VOLUME_TOO_SMALL */
function largeEnough(row: BackupRow, wanted: WantedRestore): NewVolume {
  const backupBytes = BigInt(row.size_bytes);
  const sizeGb = wanted.sizeGb === 0n ? sizeGbFromBytes(backupBytes) : wanted.sizeGb;
  if (sizeGb * bytesPerGiB < backupBytes) {
    throw tooSmall(resourceOf(row), backupBytes, sizeGb * bytesPerGiB);
  }
  const { name, deviceClass, tags } = wanted;
  return { name, deviceClass, tags, size: { gib: sizeGb }, nameField: "volume_name" };
}
