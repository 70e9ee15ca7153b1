import {
  assertNameFree,
  type Filling,
  filledGone,
  leftOfFilled,
  marksOf,
  renameFilled,
  unmarkFilled,
} from "../../../lvm/filled-volume.ts";
import { operationTag } from "../../../lvm/operation-marks.ts";
import { findCreated, type OperationVolumes, type VolumePlace } from "../../../lvm/operation-volumes.ts";
import { assertWhole } from "../../../lvm/volume-refusals.ts";
import type { Json } from "../../../operations/operation.ts";
import type { OperationStep, StepRun } from "../../../operations/operation-kind.ts";
import { createVolumeStep } from "../changes/create-volume.ts";
import { assertResolved, type DeviceClass, findDeviceClass } from "../device-class.ts";

/** The part of an operation's input that describes the volume to create. */
export interface FilledInput extends VolumePlace {
  /** Name of the device class. */
  readonly deviceClass: string;
  readonly sizeBytes: number;
  readonly tags: readonly string[];
}

/** Output of the `create` step: the volume under its temporary name. */
export type CreateOutput = {
  readonly name: string;
  readonly uuid: string;
  readonly sizeBytes: number;
};

export interface FilledVolumeTools {
  readonly operationVolumes: OperationVolumes;
  readonly deviceClasses: readonly DeviceClass[];
}

/** Returns the output of the `create` step. The cast is safe: an output keeps the type that its step returned. */
export function createdBy({ output }: { output(step: string): Json | undefined }): CreateOutput {
  return output("create") as CreateOutput;
}

/** Creates the volume under a temporary name, so that it is not used before it is complete. */
export function createStep<Input extends FilledInput, Secrets>(
  { operationVolumes, deviceClasses }: FilledVolumeTools,
  filling: Filling,
): OperationStep<Input, Secrets> {
  type Run = StepRun<Input, Secrets>;
  const createdVolume = async ({ input, operationId }: Run): Promise<CreateOutput | undefined> => {
    const state = await operationVolumes.readState();
    const volume = findCreated(state, input, { operationId, is: "result" });
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
          const { name, tags: marks } = marksOf(input.volume, operationId, filling);
          const tags = [...input.tags, ...marks];
          return [createVolumeStep(state, resolved, { name, sizeBytes: BigInt(input.sizeBytes), tags })];
        },
        signal,
      );
      const output = await createdVolume(run);
      if (output === undefined) {
        throw filledGone(input);
      }
      return output;
    },
    async undo({ input, operationId, signal }) {
      await operationVolumes.remove(input, "volumes.remove", { operationId, is: "result" }, signal);
    },
    attention: ({ input, operationId }) => leftOfFilled(operationVolumes, input, operationId, filling),
  };
}

/** Renames the volume to its final name, after which it can be opened. */
export function releaseStep<Input extends FilledInput, Secrets>({
  operationVolumes,
}: Pick<FilledVolumeTools, "operationVolumes">): OperationStep<Input, Secrets> {
  return {
    name: "release",
    title: "renaming the volume",
    isAbortable: false,
    async forward(run) {
      const { input: place, signal } = run;
      await renameFilled({ operationVolumes, place, kind: "volumes.rename", signal }, createdBy(run).uuid);
      return null;
    },
  };
}

/** Removes the operation's tags, which makes the volume an ordinary one. */
export function removeTagsStep<Input extends FilledInput, Secrets>({
  operationVolumes,
}: Pick<FilledVolumeTools, "operationVolumes">): OperationStep<Input, Secrets> {
  return {
    name: "removeTags",
    title: "removing the tags of the operation",
    isAbortable: false,
    async forward({ input: place, operationId, signal }) {
      await unmarkFilled({ operationVolumes, place, kind: "volumes.changeTags", signal }, operationId);
      return null;
    },
    attention: ({ input, operationId }) => ({
      left: [
        `${input.volumeGroup}/${input.volume} is complete and can be used; it still has the LVM tag ${operationTag(operationId)}.`,
      ],
      advice: ["Retry the operation, which removes the tag."],
    }),
  };
}
