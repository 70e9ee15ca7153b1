import { hasReason, type InfraError } from "../../../../../adapters/host/infra-error.ts";
import { libvirtReasons } from "../../../../../adapters/libvirt/reasons.ts";
import { lvmReasons } from "../../../../../adapters/lvm/reasons.ts";
import type { Repository } from "../../../../../adapters/restic/adapter.ts";
import { resticReasons } from "../../../../../adapters/restic/reasons.ts";
import { describePlace } from "../../../../backups/repository-place.ts";
import { operationTagOf } from "../../../../backups/stored-backup.ts";
import { lvmBackupReasons } from "../../../../lvm/reasons.ts";
import {
  type ChosenVolume,
  chosenBy,
  holderOf,
  listStored,
  maxAttempts,
  openRepository,
  type PoolBackupRun,
  type PoolBackupStep,
  type PoolBackupTools,
} from "./backup-run.ts";
import { judgedSource } from "./judged-source.ts";
import type { HeldVolumes } from "./pool-volumes.ts";
import { createStoreProgress, type StoreProgress } from "./store-progress.ts";
import { type StoredVolume, storedVolumeFrom, tagsOfVolume } from "./stored-marks.ts";

/**
 * Stores, one after another, each volume that this operation has not yet stored in the repository. An attempt after a failure
 * continues with the next volume.
 */
export function storeStep(tools: PoolBackupTools): PoolBackupStep {
  const { volumes, restic } = tools;
  /** Snapshots of volumes that were no longer held, if these snapshots could not be removed at once. */
  const rejectedIds = new Set<string>();

  async function settle(run: PoolBackupRun): Promise<void> {
    await restic.settle(run.token);
    // First, because the repository may be unreachable and held volumes take up space.
    await volumes.release(holderOf(run));
  }

  async function storeHeld(
    run: PoolBackupRun,
    repository: Repository,
    held: HeldVolumes,
    progress: StoreProgress,
    wholeIds: Set<string>,
  ): Promise<void> {
    const { operationId, token, signal, input } = run;
    for (const volume of held.volumes) {
      const { name } = volume;
      const { backupId } = progress.begin(volume);
      const { sizeBytes } = volume.source;
      const marks = { backupId, operationId, name: input.name, volume: name, atMs: held.atMs, sizeBytes };
      const tags = tagsOfVolume({ ...marks, poolName: volumes.poolName });
      const source = { ...judgedSource(volume.source), fileName: name, tags };
      const options = { signal, token, onProgress: progress.report };
      const snapshotId = await restic.backup(repository, source, options).catch(async (error) => {
        // A volume that is no longer held cannot be read: report that as the cause, not the reader's error.
        await held.assertGood();
        throw error;
      });
      await held.assertGood().catch(async (error) => {
        const options = { signal, token, onProgress: () => {} };
        await restic.forget(repository, [snapshotId], options).catch(() => rejectedIds.add(snapshotId));
        throw error;
      });
      wholeIds.add(snapshotId);
      progress.end(volume);
    }
  }

  return {
    name: "store",
    title: "storing the volumes",
    weight: 100,
    isAbortable: true,
    finalReasons: [lvmBackupReasons.SNAPSHOT_FULL],
    maxAttempts,
    async happened(run) {
      await settle(run);
      return undefined;
    },
    async forward(run) {
      const repository = await openRepository(tools, run);
      const postponed = new Map<string, InfraError>();
      const wholeIds = new Set<string>();
      for (;;) {
        const { missing, gone, doneBytes } = await readRemaining(run, repository, wholeIds);
        const [first, ...others] = missing.filter(({ name }) => !postponed.has(name));
        if (first === undefined) {
          const [failure] = missing.flatMap(({ name }) => postponed.get(name) ?? []);
          if (failure !== undefined) {
            throw failure;
          }
          return { skipped: gone };
        }
        const names: [string, ...string[]] = [first.name, ...others.map(({ name }) => name)];
        try {
          const held = await volumes.hold(names, holderOf(run));
          try {
            await storeHeld(run, repository, held, createStoreProgress(run, missing, doneBytes), wholeIds);
          } finally {
            await held.end();
          }
        } catch (error) {
          if (!isPassing(error)) {
            throw error;
          }
          // The other volumes can be stored meanwhile.
          postponed.set(first.name, error);
        }
      }
    },
    async undo(run) {
      await settle(run);
      const repository = await openRepository(tools, run);
      const stored = await listStored(tools, repository, run).catch(noneWithoutRepository);
      if (stored.length > 0) {
        const { signal, token } = run;
        const ids = stored.map(({ id }) => id);
        await restic.forget(repository, ids, { signal, token, onProgress: () => {} });
      }
    },
    attention: ({ input, operationId }) => ({
      left: [
        `A VM may still have a running backup job (\`virsh domjobinfo\`), or a snapshot whose name begins with hostplane-backup- may be left; and ${describePlace(input.place)} may contain snapshots with the tag ${operationTagOf(operationId)}.`,
      ],
      advice: [
        "Retry the operation once libvirt, LVM and the repository are reachable; it then removes them.",
      ],
    }),
  };

  /**
   * Returns the chosen volumes that are left to store. Snapshots are checked for their size: if the gateway is killed, restic
   * sees the end of its input, and may save a part of the volume as a snapshot before it is stopped.
   * @param wholeIds ids of snapshots that are known to be complete; extended by those found here
   */
  async function readRemaining(run: PoolBackupRun, repository: Repository, wholeIds: Set<string>) {
    const listed = (await listStored(tools, repository, run)).flatMap((one) => storedVolumeFrom(one) ?? []);
    const isUnknown = ({ snapshotId: id }: StoredVolume) => !wholeIds.has(id) && !rejectedIds.has(id);
    for (const { snapshotId, sizeBytes } of listed.filter(isUnknown)) {
      if ((await restic.sizeOf(repository, snapshotId, run.signal)) === sizeBytes) {
        wholeIds.add(snapshotId);
      }
    }
    const stored = listed.filter(({ snapshotId }) => wholeIds.has(snapshotId));
    const there = await volumes.list(holderOf(run));
    const chosen = chosenBy(run);
    const isStored = ({ backupId }: ChosenVolume) => stored.some((one) => one.backupId === backupId);
    const isThere = ({ name, identity }: ChosenVolume) =>
      there.some((one) => one.name === name && one.identity === identity);
    const open = chosen.filter((volume) => !isStored(volume));
    return {
      missing: open.filter(isThere),
      gone: open.filter((volume) => !isThere(volume)).map(({ name }) => name),
      doneBytes: chosen.filter(isStored).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    };
  }
}

/** Reports whether another attempt at the volume may succeed; by then a removed volume is skipped. */
function isPassing(error: unknown): error is InfraError {
  const passing = [
    libvirtReasons.STORAGE_VOLUME_IN_USE,
    libvirtReasons.STORAGE_VOLUME_NOT_FOUND,
    lvmReasons.VOLUME_NOT_FOUND,
  ];
  return hasReason(error, ...passing);
}

/** Returns no snapshots if the repository no longer exists; rethrows other errors. */
function noneWithoutRepository(error: unknown): readonly [] {
  if (hasReason(error, resticReasons.REPOSITORY_NOT_FOUND)) {
    return [];
  }
  throw error;
}
