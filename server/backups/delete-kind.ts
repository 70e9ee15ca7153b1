import { hasReason } from "../../adapters/host/infra-error.ts";
import { resticReasons } from "../../adapters/restic/reasons.ts";
import type { OperationKind } from "../operations/operation-kind.ts";
import { pruneStep } from "./prune-step.ts";
import { repositoryGone } from "./repository-gone.ts";
import { describePlace, type RepositorySecrets } from "./repository-place.ts";
import type { StoredBackupInput, StoredBackupRun, StoredBackupTools } from "./stored-backup-run.ts";

/**
 * Creates the operation kind that deletes a backup, from its repository and then from the gateway's catalog.
 * @param kind e.g. `volumes.deleteBackup`
 */
export function createDeleteKind(
  kind: string,
  tools: StoredBackupTools,
): OperationKind<StoredBackupInput, RepositorySecrets | null> {
  const { restic, repositories, store } = tools;
  const forgetRecord = ({ input }: StoredBackupRun) => store.run("backups.remove", { ids: [input.backupId] });

  async function isStored({ input, secrets, signal }: StoredBackupRun): Promise<boolean> {
    const repository = await repositories.open(input.place, secrets, input.keyName);
    const stored = await restic.list(repository, [], signal);
    return stored.some(({ id }) => id === input.snapshotId);
  }

  return {
    kind,
    system: "restic",
    runsOn: "host",
    steps: [
      {
        name: "forget",
        title: "removing the backup from its repository",
        isAbortable: false,
        // Other operations may have locked the repository.
        maxAttempts: 10,
        async happened({ token }) {
          await restic.settle(token);
          return undefined;
        },
        async forward(run) {
          const { input, secrets, signal, token, progress } = run;
          const repository = await repositories.open(input.place, secrets, input.keyName);
          const options = { signal, token, onProgress: progress };
          try {
            await restic.forget(repository, [input.snapshotId], options);
          } catch (error) {
            throw isGone(error) ? repositoryGone(input.place) : error;
          }
          return null;
        },
        // A deletion cannot be undone. If the snapshot is gone, the backup must no longer be listed.
        async undo(run) {
          await restic.settle(run.token);
          if (!(await isStored(run).catch(keptWithoutRepository))) {
            await forgetRecord(run);
          }
        },
        attention: ({ input }) => ({
          left: [
            `It is unknown whether ${describePlace(input.place)} still contains the snapshot ${input.snapshotId}; the backup is still listed.`,
          ],
          advice: [
            "Retry the operation once the repository is reachable; it then checks the snapshot. Or verify the backup and delete it again.",
          ],
        }),
      },
      {
        name: "removeRecord",
        title: "removing the backup from the list",
        isAbortable: false,
        async forward(run) {
          await forgetRecord(run);
          return null;
        },
      },
      pruneStep(tools, () => true),
    ],
    pointOfNoReturn: "forget",
    result: ({ input }) => ({ backupId: input.backupId }),
  };
}

function isGone(error: unknown): boolean {
  return hasReason(error, resticReasons.REPOSITORY_NOT_FOUND);
}

/** Treats a missing repository as if it contained the backup, because it may only be unmounted. */
function keptWithoutRepository(error: unknown): true {
  if (isGone(error)) {
    return true;
  }
  throw error;
}
