import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { volumeResource } from "../../../../adapters/lvm/names.ts";
import { findMade, findVolume } from "../../../backups/lvm/made-volumes.ts";
import {
  operationTag,
  shownName,
  temporaryName,
  wantedNameTag,
} from "../../../backups/lvm/operation-marks.ts";
import { assertWhole } from "../../../backups/lvm/volume-refusals.ts";
import { assertResolved, findDeviceClass } from "../device-class.ts";
import { createVolumeStep } from "../volume-mutations.ts";
import {
  type CreateOutput,
  createdBy,
  type RestoreRun,
  type RestoreStep,
  type RestoreTools,
} from "./restore-run.ts";

/** Makes the volume, under a name that tells nobody to open it. */
export function createStep({ made, deviceClasses }: RestoreTools): RestoreStep {
  const madeVolume = async ({ input, operationId }: RestoreRun): Promise<CreateOutput | undefined> => {
    const volume = findMade(await made.readState(), input, operationId);
    return volume === undefined
      ? undefined
      : { name: volume.name, uuid: volume.uuid, sizeBytes: Number(volume.sizeBytes) };
  };
  return {
    name: "create",
    title: "making the volume",
    isAbortable: false,
    async happened(run) {
      const output = await madeVolume(run);
      return output === undefined ? undefined : { output };
    },
    async forward(run) {
      const { input, operationId, signal } = run;
      await made.change(
        input,
        "volumes.create",
        (state, group) => {
          const { volumeGroup, volume } = input;
          if (state.volumes.some((one) => one.volumeGroupName === volumeGroup && shownName(one) === volume)) {
            throw alreadyThere(input);
          }
          assertWhole(group);
          const resolved = assertResolved(findDeviceClass(deviceClasses, input.deviceClass), state);
          const name = temporaryName("restore", operationId);
          const tags = [...input.tags, operationTag(operationId), wantedNameTag(volume)];
          return [createVolumeStep(state, resolved, { name, sizeBytes: BigInt(input.sizeBytes), tags })];
        },
        signal,
      );
      const output = await madeVolume(run);
      if (output === undefined) {
        throw gone(input);
      }
      return output;
    },
    async undo({ input, operationId, signal }) {
      await made.remove(input, "volumes.remove", operationId, signal);
    },
    attention: (run) => {
      const name = `${run.input.volumeGroup}/${temporaryName("restore", run.operationId)}`;
      return {
        left: [`The volume ${name} may still be there; what it holds is not a whole backup.`],
        advice: [
          `See what has it open (\`lsof /dev/${name}\`), then retry the operation; or remove it by \`lvremove ${name}\`.`,
        ],
      };
    },
  };
}

/** Gives the volume its name: from then on it can be opened. */
export function releaseStep({ made }: RestoreTools): RestoreStep {
  return {
    name: "release",
    title: "giving the volume its name",
    isAbortable: false,
    async forward(run) {
      const { input, signal } = run;
      const { uuid } = createdBy(run);
      await made.change(
        input,
        "volumes.rename",
        (state) => {
          const volume = state.volumes.find((one) => one.uuid === uuid);
          if (volume === undefined) {
            throw gone(input);
          }
          if (volume.name === input.volume) {
            return [];
          }
          if (findVolume(state, input.volumeGroup, input.volume) !== undefined) {
            throw alreadyThere(input);
          }
          const { volumeGroup: volumeGroupName, volume: newName } = input;
          return [{ kind: "rename", volumeGroupName, name: volume.name, newName }];
        },
        signal,
      );
      return null;
    },
  };
}

/** Removes the marks of the operation: the volume is like any other. */
export function removeTagsStep({ made }: RestoreTools): RestoreStep {
  return {
    name: "removeTags",
    title: "removing the marks of the restore",
    isAbortable: false,
    async forward(run) {
      const { input, operationId, signal } = run;
      const marks = [operationTag(operationId), wantedNameTag(input.volume)];
      await made.change(
        input,
        "volumes.changeTags",
        (state) => {
          const volume = findMade(state, input, operationId);
          const { volumeGroup: volumeGroupName } = input;
          return volume === undefined
            ? []
            : [{ kind: "changeTags", volumeGroupName, name: volume.name, addTags: [], removeTags: marks }];
        },
        signal,
      );
      return null;
    },
    attention: ({ input, operationId }) => ({
      left: [
        `${input.volumeGroup}/${input.volume} is restored and can be used; it still has the LVM tag ${operationTag(operationId)}.`,
      ],
      advice: ["Retry the operation: it removes the tag."],
    }),
  };
}

function alreadyThere({ volumeGroup, volume }: RestoreRun["input"]): InfraError {
  return new InfraError("VOLUME_EXISTS", `${volumeGroup}/${volume} already exists`, {
    resource: volumeResource(volumeGroup, volume),
  });
}

function gone({ volumeGroup, volume }: RestoreRun["input"]): InfraError {
  return new InfraError(
    "VOLUME_NOT_FOUND",
    `the volume that was to become ${volumeGroup}/${volume} was removed by somebody else`,
    { resource: volumeResource(volumeGroup, volume) },
  );
}
