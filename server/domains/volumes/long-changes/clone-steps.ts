import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { LogicalVolume, LvmState } from "../../../../adapters/lvm/adapter.ts";
import { volumeResource } from "../../../../adapters/lvm/names.ts";
import { lvmReasons } from "../../../../adapters/lvm/reasons.ts";
import { filledGone } from "../../../lvm/filled-volume.ts";
import { operationTag, temporaryName } from "../../../lvm/operation-marks.ts";
import { findCreated, type OperationVolumes } from "../../../lvm/operation-volumes.ts";
import { lvmBackupReasons } from "../../../lvm/reasons.ts";
import { assertWhole } from "../../../lvm/volume-refusals.ts";
import {
  type CloneInput,
  type CloneRun,
  type CloneStep,
  type CloneTools,
  type SnapshotOutput,
  snapshotBy,
} from "./clone-run.ts";
import { createdBy } from "./filled-volume-steps.ts";

/** Takes the snapshot to copy. A source that is a snapshot itself is copied directly. */
export function snapshotSourceStep({ operationVolumes }: CloneTools): CloneStep {
  const taken = async ({ input, operationId }: CloneRun): Promise<SnapshotOutput | undefined> => {
    const found = findCreated(await operationVolumes.readState(), input, { operationId, is: "snapshot" });
    return found && { name: found.name, uuid: found.uuid };
  };
  return {
    name: "snapshot",
    title: "creating a snapshot",
    isAbortable: false,
    async happened(run) {
      const output = await taken(run);
      return output === undefined ? undefined : { output };
    },
    async forward(run) {
      const { input, operationId, signal } = run;
      const { snapshotBytes: roomBytes, volumeGroup: volumeGroupName, sourceUuid: uuid } = input;
      if (roomBytes === null) {
        return { name: requireSource(await operationVolumes.readState(), input).name, uuid };
      }
      await operationVolumes.change(
        placeOfSource(input),
        "volumes.snapshot",
        (state, group) => {
          assertWhole(group);
          const { name: originName } = requireSource(state, input);
          const name = temporaryName("source", operationId);
          const tags = [operationTag(operationId)];
          return [
            { kind: "snapshot", volumeGroupName, name, originName, tags, roomBytes: BigInt(roomBytes) },
          ];
        },
        signal,
      );
      const output = await taken(run);
      if (output === undefined) {
        throw sourceGone(input);
      }
      return output;
    },
    undo: (run) => removeSnapshot(operationVolumes, run),
    attention: (run) => leftSnapshot(operationVolumes, run),
  };
}

/** Copies the snapshot to the new volume. Both are checked before and after, since a full snapshot cannot be read. */
export function copyStep({ operationVolumes, data }: CloneTools): CloneStep {
  return {
    name: "copy",
    title: "copying the volume",
    weight: 100,
    isAbortable: true,
    finalReasons: [lvmBackupReasons.SNAPSHOT_FULL],
    async happened({ token }) {
      // A retry copies everything again, but not while an earlier copy still writes.
      await data.settle(token);
      return undefined;
    },
    async forward(run) {
      const { input, signal, token, operationId, progress: onProgress } = run;
      const { name, uuid } = createdBy(run);
      const state = await operationVolumes.readState();
      const volume = findCreated(state, input, { operationId, is: "result" });
      if (volume?.uuid !== uuid || volume.name !== name) {
        throw filledGone(input);
      }
      const source = assertSourceGood(state, run);
      const step = {
        kind: "copy",
        volumeGroupName: input.volumeGroup,
        name,
        sourceName: source.name,
        sizeBytes: BigInt(input.sourceBytes),
        holdsSource: input.holdsSource,
      } as const;
      try {
        await data.run(step, { signal, token, onProgress });
      } finally {
        // A full snapshot can no longer be read: report that as the cause, not the reader's error.
        assertSourceGood(await operationVolumes.readState(), run);
      }
      return null;
    },
    undo: ({ token }) => data.settle(token),
  };
}

/** Removes the snapshot once the clone is complete. */
export function removeSnapshotStep({ operationVolumes }: CloneTools): CloneStep {
  return {
    name: "removeSnapshot",
    title: "removing the snapshot",
    isAbortable: false,
    // udev probes a device after it was closed, and keeps it open for a moment.
    maxAttempts: 6,
    async forward(run) {
      await removeSnapshot(operationVolumes, run);
      return null;
    },
    attention: (run) => leftSnapshot(operationVolumes, run),
  };
}

function removeSnapshot(operationVolumes: OperationVolumes, run: CloneRun): Promise<void> {
  const { input, operationId, signal } = run;
  const created = { operationId, is: "snapshot" } as const;
  return operationVolumes.remove(placeOfSource(input), "volumes.removeSnapshot", created, signal);
}

function leftSnapshot({ shown }: Pick<OperationVolumes, "shown">, { input, operationId }: CloneRun) {
  const name = `${input.volumeGroup}/${temporaryName("source", operationId)}`;
  return {
    left: [
      `The snapshot ${name} of ${input.source} may still exist, and takes up space in ${input.volumeGroup}.`,
    ],
    advice: [
      `Check what has it open (\`lsof /dev/${name}\`), then retry the operation; or remove it with \`${shown(["lvremove", name])}\`.`,
    ],
  };
}

/** The queue of the source, so that it is not changed while its snapshot is taken. */
function placeOfSource({ volumeGroup, groupUuid, source }: CloneInput) {
  return { volumeGroup, groupUuid, volume: source, thinPool: null };
}

/** Finds the source, also if it was renamed. @throws InfraError VOLUME_NOT_FOUND */
function requireSource(state: LvmState, input: CloneInput): LogicalVolume {
  const source = state.volumes.find(({ uuid }) => uuid === input.sourceUuid);
  if (source === undefined || Number(source.sizeBytes) !== input.sourceBytes) {
    throw sourceGone(input);
  }
  return source;
}

/**
 * Checks that what is copied still has the content that it had when the operation began.
 * @throws InfraError VOLUME_NOT_FOUND, SNAPSHOT_FULL
 */
function assertSourceGood(state: LvmState, run: CloneRun): LogicalVolume {
  const { input } = run;
  const { uuid } = snapshotBy(run);
  const found = state.volumes.find((one) => one.uuid === uuid);
  if (found === undefined) {
    throw sourceGone(input);
  }
  if (found.health === "invalidSnapshot" || found.health === "failed") {
    const words =
      input.snapshotBytes === null
        ? `the snapshot ${input.volumeGroup}/${found.name} has become invalid`
        : `${input.volumeGroup}/${input.source} changed more while it was copied than its snapshot has space for: raise snapshot_space_bytes`;
    throw new InfraError(lvmBackupReasons.SNAPSHOT_FULL, words, {
      resource: volumeResource(input.volumeGroup, input.source),
    });
  }
  return found;
}

function sourceGone({ volumeGroup, source }: CloneInput): InfraError {
  const words = `${volumeGroup}/${source} was removed or changed outside hostplane while it was cloned`;
  return new InfraError(lvmReasons.VOLUME_NOT_FOUND, words, {
    resource: volumeResource(volumeGroup, source),
  });
}
