import { describePlace, type RepositorySecrets } from "../../../backups/repository-place.ts";
import type { OperationKind } from "../../../operations/operation-kind.ts";
import { type BackupInput, type BackupResult, type BackupTools, snapshotBy, storedBy } from "./backup-run.ts";
import { removeSnapshotStep, snapshotVolumeStep } from "./snapshot-steps.ts";
import { openStep, recordStep, storeStep, verifyStep } from "./store-steps.ts";

export const backupKindName = "volumes.backup";

/**
 * volumes.backup: stores a snapshot of the volume in a repository, then removes the snapshot, also after a failure.
 * Everything that it creates is tagged with the operation's id, so that it can be found again.
 */
export function createBackupKind(tools: BackupTools): OperationKind<BackupInput, RepositorySecrets | null> {
  return {
    kind: backupKindName,
    system: "restic",
    runsOn: "host",
    steps: [
      openStep(tools),
      snapshotVolumeStep(tools),
      storeStep(tools),
      verifyStep(tools),
      recordStep(tools),
      removeSnapshotStep(tools),
    ],
    pointOfNoReturn: "record",
    result: ({ input, output }): BackupResult => ({
      backupId: input.backupId,
      snapshotId: storedBy({ output }).snapshotId,
      sizeBytes: snapshotBy({ output }).sizeBytes,
      repository: describePlace(input.place),
    }),
  };
}
