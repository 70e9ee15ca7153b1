import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { libvirtReasons } from "../../../../../adapters/libvirt/reasons.ts";
import type { Repository } from "../../../../../adapters/restic/adapter.ts";
import { backupReasons } from "../../../../backups/reasons.ts";
import { describePlace } from "../../../../backups/repository-place.ts";
import {
  chosenBy,
  damaged,
  holderOf,
  listStored,
  maxAttempts,
  openRepository,
  type PoolBackupRun,
  type PoolBackupStep,
  type PoolBackupTools,
  poolVolumeResourceOf,
  type VerifyOutput,
  verifiedBy,
} from "./backup-run.ts";
import { type StoredVolume, storedVolumeFrom } from "./stored-marks.ts";

/** Compares the snapshots in the repository with what was stored. */
export function verifyStep(tools: PoolBackupTools): PoolBackupStep {
  /** Returns the newest complete snapshot of a volume. @throws InfraError BACKUP_DAMAGED if there is none */
  async function wholeOf(
    run: PoolBackupRun,
    repository: Repository,
    candidates: readonly StoredVolume[],
    name: string,
  ): Promise<StoredVolume> {
    let found = "does not list the new snapshot";
    // Newest first: an older one may have been rejected after it was stored.
    for (const one of candidates.toReversed()) {
      const storedBytes = await tools.restic.sizeOf(repository, one.snapshotId, run.signal);
      if (storedBytes === one.sizeBytes) {
        return one;
      }
      found = `contains ${storedBytes} of ${one.sizeBytes} bytes`;
    }
    throw damaged(run.input, `${found} of ${name}`);
  }

  return {
    name: "verify",
    title: "verifying the backups",
    isAbortable: true,
    weight: 5,
    async forward(run) {
      const repository = await openRepository(tools, run);
      const listed = await listStored(tools, repository, run);
      const found = listed.flatMap((snapshot) => storedVolumeFrom(snapshot) ?? []);
      const skipped = skippedBy(run);
      const included = chosenBy(run).filter(({ name }) => !skipped.includes(name));
      const stored: VerifyOutput["stored"][number][] = [];
      for (const volume of included) {
        const candidates = found.filter(({ backupId }) => backupId === volume.backupId);
        const one = await wholeOf(run, repository, candidates, volume.name);
        stored.push({ ...volume, ...one });
        run.progress({ message: `${volume.name} is verified (${stored.length} of ${included.length})` });
      }
      if (stored.length === 0) {
        throw new InfraError(
          libvirtReasons.STORAGE_VOLUME_NOT_FOUND,
          "all volumes were removed before they were stored",
          {
            resource: "storagePool",
          },
        );
      }
      const kept = new Set(stored.map(({ snapshotId }) => snapshotId));
      const otherIds = listed.map(({ id }) => id).filter((id) => !kept.has(id));
      return { stored, otherIds } satisfies VerifyOutput;
    },
  };
}

/** Records all backups; from then on they are listed. */
export function recordStep({ store }: PoolBackupTools): PoolBackupStep {
  return {
    name: "record",
    title: "recording the backups",
    isAbortable: false,
    async forward(run) {
      const { input, operationId } = run;
      for (const { name, backupId, identity, snapshotId, sizeBytes, atMs } of verifiedBy(run).stored) {
        const volume = poolVolumeResourceOf(name);
        const { ok } = await store.run("backups.record", {
          backup: {
            id: backupId,
            name: input.name,
            volume,
            host: input.host,
            backend: input.identity,
            volume_uuid: identity,
            size_bytes: sizeBytes,
            at: atMs,
            repository_json: JSON.stringify(input.place),
            snapshot_id: snapshotId,
            key_name: input.keyName,
            schedule: null,
            operation_id: operationId,
            actor: input.actor,
          },
        });
        if (!ok) {
          throw new InfraError(backupReasons.BACKUP_EXISTS, `${name} already has a backup ${input.name}`, {
            resource: volume,
          });
        }
      }
      return null;
    },
    async undo(run) {
      await store.run("backups.remove", { ids: chosenBy(run).map(({ backupId }) => backupId) });
    },
  };
}

/** Releases all volumes, and removes what failed attempts left in the repository. */
export function cleanStep(tools: PoolBackupTools): PoolBackupStep {
  const { restic, volumes } = tools;
  return {
    name: "clean",
    title: "removing the remains of failed attempts",
    isAbortable: false,
    maxAttempts,
    async happened({ token }) {
      await restic.settle(token);
      return undefined;
    },
    async forward(run) {
      await volumes.release(holderOf(run));
      const { otherIds } = verifiedBy(run);
      if (otherIds.length > 0) {
        const { signal, token, progress } = run;
        const repository = await openRepository(tools, run);
        await restic.forget(repository, otherIds, { signal, token, onProgress: progress });
      }
      return null;
    },
    attention: (run) => ({
      left: leftOf(run),
      advice: ["The backups are complete and listed. Retry the operation, which removes the remains."],
    }),
  };
}

function leftOf(run: PoolBackupRun): string[] {
  const { otherIds } = verifiedBy(run);
  const held =
    "A VM may still have a running backup job (`virsh domjobinfo`), or an LVM snapshot may be left.";
  const stored = `${describePlace(run.input.place)} may still contain the snapshots ${otherIds.join(", ")} of failed attempts.`;
  return otherIds.length === 0 ? [held] : [held, stored];
}

/** Volumes that were removed before they were stored. */
export function skippedBy({ output }: Pick<PoolBackupRun, "output">): readonly string[] {
  return (output("store") as { readonly skipped: readonly string[] }).skipped;
}
