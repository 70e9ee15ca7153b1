import { InfraError } from "../../adapters/host/infra-error.ts";
import { resticReasons } from "../../adapters/restic/reasons.ts";
import type { OperationKind } from "../operations/operation-kind.ts";
import type { RepositorySecrets } from "./repository-place.ts";
import {
  isLoss,
  type StoredBackupInput,
  type StoredBackupRun,
  type StoredBackupTools,
} from "./stored-backup-run.ts";

/** Result of the read; null: the backup is intact. */
type ReadOutput = { readonly damage: string | null };

/**
 * Creates the operation kind that reads a backup completely and records the result. It fails if it found damage.
 * @param kind e.g. `volumes.verifyBackup`
 */
export function createVerifyKind(
  kind: string,
  { restic, repositories, store }: StoredBackupTools,
): OperationKind<StoredBackupInput, RepositorySecrets | null> {
  return {
    kind,
    system: "restic",
    runsOn: "host",
    steps: [
      {
        name: "read",
        title: "reading the backup",
        weight: 100,
        isAbortable: true,
        async happened({ token }) {
          await restic.settle(token);
          return undefined;
        },
        async forward({ input, secrets, signal, token, progress }) {
          const { place, snapshotId: id, fileName, sizeBytes } = input;
          const repository = await repositories.open(place, secrets, input.keyName);
          try {
            await restic.verify(
              repository,
              { id, fileName, sizeBytes },
              { signal, token, onProgress: progress },
            );
            return { damage: null } satisfies ReadOutput;
          } catch (error) {
            if (!isLoss(error)) {
              throw error;
            }
            return { damage: error.message } satisfies ReadOutput;
          }
        },
        undo: ({ token }) => restic.settle(token),
      },
      {
        name: "record",
        title: "recording the result",
        isAbortable: false,
        async forward(run) {
          const { damage } = readBy(run);
          await store.run("backups.verified", { id: run.input.backupId, damage });
          if (damage !== null) {
            throw new InfraError(resticReasons.BACKUP_DAMAGED, damage, {
              resource: `backups/${run.input.backupId}`,
            });
          }
          return null;
        },
      },
    ],
    result: ({ input }) => ({ backupId: input.backupId, sizeBytes: input.sizeBytes }),
  };
}

/** Returns the output of the step `read`, which has the type that the step returned. */
function readBy({ output }: Pick<StoredBackupRun, "output">): ReadOutput {
  return output("read") as ReadOutput;
}
