import { operationTag } from "../../../lvm/operation-marks.ts";
import { findCreated } from "../../../lvm/operation-volumes.ts";
import {
  assertNameFree,
  leftOfRestored,
  marksOf,
  renameRestored,
  restoredGone,
  unmarkRestored,
} from "../../../lvm/restored-volume.ts";
import { assertWhole } from "../../../lvm/volume-refusals.ts";
import { createVolumeStep } from "../changes/create-volume.ts";
import { assertResolved, findDeviceClass } from "../device-class.ts";
import {
  type CreateOutput,
  createdBy,
  type RestoreRun,
  type RestoreStep,
  type RestoreTools,
} from "./restore-run.ts";

/** Creates the volume under a temporary name, so that it is not used before it is complete. */
export function createStep({ operationVolumes, deviceClasses }: RestoreTools): RestoreStep {
  const createdVolume = async ({ input, operationId }: RestoreRun): Promise<CreateOutput | undefined> => {
    const volume = findCreated(await operationVolumes.readState(), input, operationId);
    return volume === undefined
      ? undefined
      : { name: volume.name, uuid: volume.uuid, sizeBytes: Number(volume.sizeBytes) };
  };
  return {
    name: "create",
    title: "creating the volume",
    isAbortable: false,
    async happened(run) {
      const output = await createdVolume(run);
      return output === undefined ? undefined : { output };
    },
    async forward(run) {
      const { input, operationId, signal } = run;
      await operationVolumes.change(
        input,
        "volumes.create",
        (state, group) => {
          assertNameFree(state, input);
          assertWhole(group);
          const resolved = assertResolved(findDeviceClass(deviceClasses, input.deviceClass), state);
          const { name, tags: marks } = marksOf(input.volume, operationId);
          const tags = [...input.tags, ...marks];
          return [createVolumeStep(state, resolved, { name, sizeBytes: BigInt(input.sizeBytes), tags })];
        },
        signal,
      );
      const output = await createdVolume(run);
      if (output === undefined) {
        throw restoredGone(input);
      }
      return output;
    },
    async undo({ input, operationId, signal }) {
      await operationVolumes.remove(input, "volumes.remove", operationId, signal);
    },
    attention: ({ input, operationId }) => leftOfRestored(operationVolumes, input, operationId),
  };
}

/** Renames the volume to its final name, after which it can be opened. */
export function releaseStep({ operationVolumes }: RestoreTools): RestoreStep {
  return {
    name: "release",
    title: "renaming the volume",
    isAbortable: false,
    async forward(run) {
      const { input: place, signal } = run;
      await renameRestored({ operationVolumes, place, kind: "volumes.rename", signal }, createdBy(run).uuid);
      return null;
    },
  };
}

/** Removes the operation's tags, which makes the volume an ordinary one. */
export function removeTagsStep({ operationVolumes }: RestoreTools): RestoreStep {
  return {
    name: "removeTags",
    title: "removing the tags of the restore",
    isAbortable: false,
    async forward({ input: place, operationId, signal }) {
      await unmarkRestored({ operationVolumes, place, kind: "volumes.changeTags", signal }, operationId);
      return null;
    },
    attention: ({ input, operationId }) => ({
      left: [
        `${input.volumeGroup}/${input.volume} is restored and can be used; it still has the LVM tag ${operationTag(operationId)}.`,
      ],
      advice: ["Retry the operation, which removes the tag."],
    }),
  };
}
