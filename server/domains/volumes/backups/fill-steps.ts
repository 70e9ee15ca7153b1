import { describeSize } from "../../../../adapters/host/describe-size.ts";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { devicePathOf, volumeResource } from "../../../../adapters/lvm/names.ts";
import { lvmReasons } from "../../../../adapters/lvm/reasons.ts";
import { backupReasons } from "../../../backups/reasons.ts";
import { describePlace } from "../../../backups/repository-place.ts";
import { selectBackup } from "../../../backups/select-backup.ts";
import { storedBackupFrom } from "../../../backups/stored-backup.ts";
import { findCreated } from "../../../lvm/operation-volumes.ts";
import { createdBy } from "../long-changes/filled-volume-steps.ts";
import { type LocateOutput, locatedBy, type RestoreStep, type RestoreTools } from "./restore-run.ts";

/** Finds the requested backup before anything is created. */
export function locateStep({ restic, repositories }: RestoreTools): RestoreStep {
  return {
    name: "locate",
    title: "looking for the backup",
    isAbortable: true,
    async forward({ input, secrets, signal }) {
      const { place, selector, volumeGroup, volume, host } = input;
      const repository = await repositories.open(place, secrets, input.keyName);
      const stored = (await restic.list(repository, [], signal)).map(storedBackupFrom);
      const target = { target: `${volumeGroup}/${volume}`, host };
      const backup = selectBackup(stored, selector, target, describePlace(place));
      const sizeBytes = await restic.sizeOf(repository, backup.id, signal);
      if (sizeBytes > input.sizeBytes) {
        throw tooSmall(volumeResource(volumeGroup, volume), BigInt(sizeBytes), BigInt(input.sizeBytes));
      }
      return {
        snapshotId: backup.id,
        fileName: backup.fileName,
        sizeBytes,
        backupId: backup.backupId ?? null,
      } satisfies LocateOutput;
    },
  };
}

/** Fills the volume. Its device is held open until all bytes are on the disk, so that it cannot be mounted meanwhile. */
export function fillStep({ operationVolumes, restic, repositories }: RestoreTools): RestoreStep {
  return {
    name: "fill",
    title: "filling the volume",
    weight: 100,
    isAbortable: true,
    async happened({ token }) {
      // A retry fills the volume from its beginning, but not while an earlier restic still writes to it.
      await restic.settle(token);
      return undefined;
    },
    async forward(run) {
      const { input, secrets, signal, token, operationId } = run;
      const { name, uuid } = createdBy(run);
      const volume = findCreated(await operationVolumes.readState(), input, { operationId, is: "result" });
      if (volume?.uuid !== uuid || volume.name !== name) {
        throw new InfraError(
          lvmReasons.VOLUME_NOT_FOUND,
          `${input.volumeGroup}/${name}, which was being filled, was removed outside hostplane`,
          { resource: volumeResource(input.volumeGroup, input.volume) },
        );
      }
      const { snapshotId, fileName, sizeBytes } = locatedBy(run);
      const repository = await repositories.open(input.place, secrets, input.keyName);
      const device = devicePathOf(input.volumeGroup, name);
      const options = { signal, token, onProgress: run.progress };
      await restic.restore(repository, { id: snapshotId, fileName, sizeBytes }, device, options);
      return null;
    },
    undo: ({ token }) => restic.settle(token),
    attention: ({ input }) => ({
      left: [
        `restic may still be writing to the volume that was being restored to ${input.volumeGroup}/${input.volume}.`,
      ],
      advice: ["Check with `pgrep -a restic`, then retry the operation, which removes the volume."],
    }),
  };
}

/** Creates the error for a volume that is too small for the backup to restore. */
export function tooSmall(resource: string, backupBytes: bigint, volumeBytes: bigint): InfraError {
  return new InfraError(
    backupReasons.VOLUME_TOO_SMALL,
    `the backup has ${describeSize(backupBytes)}, but the volume would have only ${describeSize(volumeBytes)}`,
    { resource },
  );
}
