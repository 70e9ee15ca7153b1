import { describePlace } from "../../../backups/repository-place.ts";
import { operationTag, temporaryName } from "../../../lvm/operation-marks.ts";
import { findCreated, findVolume, type OperationVolumes } from "../../../lvm/operation-volumes.ts";
import { snapshotStep } from "../../../lvm/snapshot-volume.ts";
import {
  type BackupRun,
  type BackupStep,
  type BackupTools,
  openRepository,
  type SnapshotOutput,
  verifiedBy,
  volumeGone,
} from "./backup-run.ts";
import { backupConfigKey as configKey } from "./backup-settings.ts";

const timeTag = "hostplane-at-";

/** Creates the snapshot to store. */
export function snapshotVolumeStep({ operationVolumes }: BackupTools): BackupStep {
  const createdSnapshot = async ({ input, operationId }: BackupRun): Promise<SnapshotOutput | undefined> => {
    const snapshot = findCreated(await operationVolumes.readState(), input, {
      operationId,
      is: "snapshot",
    });
    if (snapshot === undefined) {
      return undefined;
    }
    const { name, uuid, sizeBytes, tags } = snapshot;
    const atMs = Number(tags.find((tag) => tag.startsWith(timeTag))?.slice(timeTag.length));
    return { name, uuid, sizeBytes: Number(sizeBytes), atMs };
  };
  return {
    name: "snapshot",
    title: "creating a snapshot",
    isAbortable: false,
    async happened(run) {
      const output = await createdSnapshot(run);
      return output === undefined ? undefined : { output };
    },
    async forward(run) {
      const { input, operationId, signal } = run;
      const name = temporaryName("backup", operationId);
      await operationVolumes.change(
        input,
        "volumes.snapshot",
        (state, group) => {
          const volume = findVolume(state, input.volumeGroup, input.volume);
          if (volume === undefined || volume.uuid !== input.volumeUuid) {
            throw volumeGone(input);
          }
          const tags = [operationTag(operationId), `${timeTag}${Date.now()}`];
          const { shown } = operationVolumes;
          return [
            snapshotStep({ volume, group, name, tags, percent: input.snapshotPercent, configKey, shown }),
          ];
        },
        signal,
      );
      const output = await createdSnapshot(run);
      if (output === undefined) {
        throw volumeGone(input);
      }
      return output;
    },
    undo: (run) => removeSnapshot(operationVolumes, run),
    attention: (run) => leftSnapshot(operationVolumes, run),
  };
}

/** Removes the snapshot once the backup is recorded, and what failed attempts left in the repository. */
export function removeSnapshotStep({ operationVolumes, restic, repositories }: BackupTools): BackupStep {
  return {
    name: "removeSnapshot",
    title: "removing the snapshot",
    isAbortable: false,
    // udev probes a device after it was closed, and keeps it open for a moment.
    maxAttempts: 6,
    async happened({ token }) {
      await restic.settle(token);
      return undefined;
    },
    async forward(run) {
      await removeSnapshot(operationVolumes, run);
      const { otherIds } = verifiedBy(run);
      if (otherIds.length > 0) {
        const { signal, token, progress } = run;
        const repository = await openRepository(repositories, run);
        await restic.forget(repository, otherIds, { signal, token, onProgress: progress });
      }
      return null;
    },
    attention(run) {
      const { left, advice } = leftSnapshot(operationVolumes, run);
      const { otherIds } = verifiedBy(run);
      const inRepository = `${describePlace(run.input.place)} may still contain the snapshots ${otherIds.join(", ")} of failed attempts.`;
      return { left: otherIds.length === 0 ? left : [...left, inRepository], advice };
    },
  };
}

/** Removes the snapshot of an operation, if it exists. */
export function removeSnapshot(
  operationVolumes: OperationVolumes,
  { input, operationId, signal }: BackupRun,
): Promise<void> {
  return operationVolumes.remove(input, "volumes.removeSnapshot", { operationId, is: "snapshot" }, signal);
}

function leftSnapshot({ shown }: Pick<OperationVolumes, "shown">, { input, operationId }: BackupRun) {
  const name = `${input.volumeGroup}/${temporaryName("backup", operationId)}`;
  return {
    left: [
      `The snapshot ${name} of ${input.volume} may still exist, and takes up space in ${input.volumeGroup}.`,
    ],
    advice: [
      `Check what has it open (\`lsof /dev/${name}\`), then retry the operation; or remove it with \`${shown(["lvremove", name])}\`.`,
    ],
  };
}
