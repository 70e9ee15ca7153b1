import { hasReason } from "../../../../adapters/host/infra-error.ts";
import { devicePathOf, volumeResource } from "../../../../adapters/lvm/names.ts";
import type { Repository, ResticAdapter } from "../../../../adapters/restic/adapter.ts";
import { resticReasons } from "../../../../adapters/restic/reasons.ts";
import { ensureRepository } from "../../../backups/ensure-repository.ts";
import { describePlace } from "../../../backups/repository-place.ts";
import { operationTagOf, scheduleTagsOf, tagsFromMarks } from "../../../backups/stored-backup.ts";
import { lvmBackupReasons } from "../../../lvm/reasons.ts";
import { assertSnapshotGood } from "../../../lvm/snapshot-volume.ts";
import {
  type BackupRun,
  type BackupStep,
  type BackupTools,
  damaged,
  nameTaken,
  openRepository,
  type StoreOutput,
  snapshotBy,
  storedBy,
  type VerifyOutput,
} from "./backup-run.ts";
import { backupConfigKey as configKey } from "./backup-settings.ts";
import { removeSnapshot } from "./snapshot-steps.ts";

/** Opens the repository before anything is created, so that a wrong key or endpoint is reported at once. */
export function openStep(tools: BackupTools): BackupStep {
  const { repositories, store } = tools;
  return {
    name: "open",
    title: "opening the repository",
    isAbortable: true,
    async forward({ input, secrets, signal, operationId }) {
      const { host, name, backupId, place } = input;
      const volumes = [volumeResource(input.volumeGroup, input.volume)];
      const { backups } = await store.run("backups.named", { host, volumes, name });
      if (backups.some(({ id }) => id !== backupId)) {
        throw nameTaken(input);
      }
      const repository = await openRepository(repositories, { input, secrets });
      await ensureRepository(tools, repository, { place, host, owner: operationId }, signal);
      return null;
    },
  };
}

/** Stores the snapshot of the volume in the repository; undoing removes the snapshot and what was stored. */
export function storeStep({ operationVolumes, restic, repositories }: BackupTools): BackupStep {
  return {
    name: "store",
    title: "storing the volume",
    weight: 100,
    isAbortable: true,
    finalReasons: [lvmBackupReasons.SNAPSHOT_FULL],
    // The removal of backups locks others out of the repository for minutes.
    maxAttempts: 10,
    async happened(run) {
      await restic.settle(run.token);
      const repository = await openRepository(repositories, run);
      const snapshotId = (await storedIds(restic, repository, run)).at(-1);
      assertSnapshotGood(await operationVolumes.readState(), run.input, snapshotBy(run), configKey);
      return snapshotId === undefined ? undefined : { output: { snapshotId } };
    },
    async forward(run) {
      const { input, operationId, signal, token } = run;
      const snapshot = snapshotBy(run);
      const repository = await openRepository(repositories, run);
      const assertGood = async () =>
        assertSnapshotGood(await operationVolumes.readState(), input, snapshot, configKey);
      await assertGood();
      const { backupId, schedule, host, name } = input;
      const volume = `${input.volumeGroup}/${input.volume}`;
      const marks = tagsFromMarks({ backupId, operationId, volume, name });
      const source = {
        device: devicePathOf(input.volumeGroup, snapshot.name),
        sizeBytes: snapshot.sizeBytes,
        fileName: input.volume,
        tags: schedule === null ? marks : [...new Set([...marks, ...scheduleTagsOf(schedule, host, volume)])],
      };
      try {
        const snapshotId = await restic.backup(repository, source, {
          signal,
          token,
          onProgress: run.progress,
        });
        await assertGood();
        return { snapshotId } satisfies StoreOutput;
      } catch (error) {
        // A full snapshot can no longer be read: report that as the cause, not the reader's error.
        await assertGood();
        throw error;
      }
    },
    async undo(run) {
      await restic.settle(run.token);
      // First, because the repository may be unreachable and the snapshot takes up space.
      await removeSnapshot(operationVolumes, run);
      const repository = await openRepository(repositories, run);
      const ids = await storedIds(restic, repository, run).catch(noneWithoutRepository);
      if (ids.length > 0) {
        const { signal, token } = run;
        await restic.forget(repository, ids, { signal, token, onProgress: () => {} });
      }
    },
    attention: ({ input, operationId }) => ({
      left: [
        `Stored data may still be in ${describePlace(input.place)}, in snapshots with the tag ${operationTagOf(operationId)}.`,
      ],
      advice: [
        "Retry the operation once the repository is reachable; it then removes them. Nothing else depends on them.",
      ],
    }),
  };
}

/** Checks that the repository lists the new backup with the size of the volume. */
export function verifyStep({ restic, repositories }: BackupTools): BackupStep {
  return {
    name: "verify",
    title: "verifying the backup",
    isAbortable: true,
    async forward(run) {
      const { snapshotId } = storedBy(run);
      const { sizeBytes } = snapshotBy(run);
      const repository = await openRepository(repositories, run);
      const ids = await storedIds(restic, repository, run);
      if (!ids.includes(snapshotId)) {
        throw damaged(run.input, `does not list the new snapshot ${snapshotId}`);
      }
      const storedBytes = await restic.sizeOf(repository, snapshotId, run.signal);
      if (storedBytes !== sizeBytes) {
        throw damaged(run.input, `contains ${storedBytes} of ${sizeBytes} bytes`);
      }
      return { otherIds: ids.filter((id) => id !== snapshotId) } satisfies VerifyOutput;
    },
  };
}

/** Records the backup in the store. @throws InfraError BACKUP_EXISTS if another backup has taken its name meanwhile */
export function recordStep({ store }: BackupTools): BackupStep {
  return {
    name: "record",
    title: "recording the backup",
    isAbortable: false,
    async forward(run) {
      const { input, operationId } = run;
      const { sizeBytes, atMs } = snapshotBy(run);
      const { ok } = await store.run("backups.record", {
        backup: {
          id: input.backupId,
          name: input.name,
          volume: volumeResource(input.volumeGroup, input.volume),
          host: input.host,
          backend: input.groupUuid,
          volume_uuid: input.volumeUuid,
          size_bytes: sizeBytes,
          at: atMs,
          repository_json: JSON.stringify(input.place),
          snapshot_id: storedBy(run).snapshotId,
          key_name: input.keyName,
          schedule: input.schedule,
          operation_id: operationId,
          actor: input.actor,
        },
      });
      if (!ok) {
        throw nameTaken(input);
      }
      return null;
    },
    async undo({ input }) {
      await store.run("backups.remove", { ids: [input.backupId] });
    },
  };
}

/** Returns no ids if the repository no longer exists; rethrows other errors. */
function noneWithoutRepository(error: unknown): readonly string[] {
  if (hasReason(error, resticReasons.REPOSITORY_NOT_FOUND)) {
    return [];
  }
  throw error;
}

/** Returns the ids of the repository snapshots that the operation stored. */
async function storedIds(
  restic: ResticAdapter,
  repository: Repository,
  { operationId, signal }: BackupRun,
): Promise<readonly string[]> {
  const stored = await restic.list(repository, [operationTagOf(operationId)], signal);
  return stored.map(({ id }) => id);
}
