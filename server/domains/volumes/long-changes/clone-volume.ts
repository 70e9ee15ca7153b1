import { describeSize } from "../../../../adapters/host/describe-size.ts";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { LogicalVolume, LvmAdapter, LvmState } from "../../../../adapters/lvm/adapter.ts";
import { assertSnapshotNames, volumeResource } from "../../../../adapters/lvm/names.ts";
import { snapshotRoomBytes } from "../../../../adapters/lvm/snapshot-room.ts";
import { backupReasons } from "../../../backups/reasons.ts";
import type { LongChange } from "../../../domain/long-change.ts";
import { roundUpToExtents } from "../../../lvm/extents.ts";
import { marksOf } from "../../../lvm/filled-volume.ts";
import { operationTag, temporaryName } from "../../../lvm/operation-marks.ts";
import { createShownCommand } from "../../../lvm/shown-command.ts";
import { assertActive, assertWhole, isProtected } from "../../../lvm/volume-refusals.ts";
import type { Operation } from "../../../operations/operation.ts";
import type { OperationKind } from "../../../operations/operation-kind.ts";
import type { Operations } from "../../../operations/operations.ts";
import { createVolumeStep } from "../changes/create-volume.ts";
import type { SnapshotSpec } from "../changes/snapshot-volume.ts";
import {
  assertNameFree,
  assertSpace,
  describeTags,
  factsOfSpace,
  factsOfVolume,
  requireVolume,
} from "../changes/volume-change.ts";
import { assertResolved, type ResolvedClass } from "../device-class.ts";
import { assertNotOfOperation } from "../protection.ts";
import type { CloneInput } from "./clone-run.ts";

export interface CloneVolumeParts {
  readonly lvm: LvmAdapter;
  readonly operations: Pick<Operations, "assertFree">;
}

/** A thick volume to clone, independent of how a request describes it. */
export interface ThickClone {
  readonly spec: SnapshotSpec;
  /** As in `CheckedOperation`. */
  readonly attachKey?: string;
}

/** Placeholder in planned commands for the operation's ID, which is assigned only when it begins. */
const operationId = "OPERATION";

/**
 * Returns the operation that clones a thick volume. A request may also join an operation that it knows. Its `check` throws
 * InfraError INVALID_FIELD, VOLUME_GROUP_GONE, VOLUME_NOT_FOUND, VOLUME_EXISTS, VOLUME_PROTECTED, VOLUME_INACTIVE,
 * VOLUME_TOO_SMALL, NO_SPACE and OPERATION_IN_PROGRESS.
 */
export function createCloneVolume(
  parts: CloneVolumeParts,
  kind: OperationKind<CloneInput>,
): LongChange<ThickClone | { readonly joins: Operation }, CloneInput> {
  const { lvm, operations } = parts;
  return {
    kind,
    async check(request, { signal, operation }) {
      if ("joins" in request) {
        return request;
      }
      const { spec, attachKey } = request;
      const { value: state } = await lvm.refresh(signal);
      const resolved = assertResolved(spec.deviceClass, state);
      const { group } = resolved;
      const source = assertCloneable(resolved, state, spec.sourceName);
      assertActive(source, createShownCommand(lvm));
      const resource = volumeResource(group.name, spec.name);
      await operations.assertFree(resource, operation?.id);
      await operations.assertFree(volumeResource(group.name, source.name), operation?.id);
      assertWhole(group);
      assertNameFree(state, group.name, spec.name);
      const input = inputOf(resolved, source, spec);
      const neededBytes = BigInt(input.sizeBytes) + BigInt(input.snapshotBytes ?? 0);
      assertSpace(resolved, state, neededBytes);
      return {
        resource,
        backend: group.uuid,
        input,
        secrets: null,
        ...(attachKey === undefined ? {} : { attachKey }),
        plan: {
          changes: [describeClone(input)],
          losses: [],
          facts: [...factsOfVolume(source), ...factsOfSpace(resolved, neededBytes)],
        },
        steps: plannedSteps(lvm, state, resolved, input),
      };
    },
  };
}

/** @throws InfraError VOLUME_NOT_FOUND, VOLUME_PROTECTED */
function assertCloneable(resolved: ResolvedClass, state: LvmState, name: string): LogicalVolume {
  const source = requireVolume(resolved, state, name);
  assertNotOfOperation(source);
  if (source.merging) {
    throw isProtected(source, "a snapshot is being merged into it");
  }
  if (source.kind === "snapshot" && source.open && !source.readOnly) {
    throw isProtected(source, "it is a writable snapshot in use, and LVM cannot create a snapshot of it");
  }
  return source;
}

/** @throws InfraError VOLUME_TOO_SMALL, INVALID_FIELD */
function inputOf(
  { group, deviceClass }: ResolvedClass,
  source: LogicalVolume,
  spec: SnapshotSpec,
): CloneInput {
  const { sizeBytes = source.sizeBytes, spaceBytes } = spec;
  if (sizeBytes < source.sizeBytes) {
    throw new InfraError(
      backupReasons.VOLUME_TOO_SMALL,
      `requested size ${sizeBytes} is smaller than ${group.name}/${source.name}: ${source.sizeBytes}`,
      { resource: volumeResource(group.name, source.name) },
    );
  }
  const isSnapshot = source.kind === "snapshot";
  if (!isSnapshot) {
    assertSnapshotNames(group.name, temporaryName("source", operationId), source.name);
  }
  const mostBytes = snapshotRoomBytes(source.sizeBytes, 100);
  const roomBytes = spaceBytes === undefined || spaceBytes > mostBytes ? mostBytes : spaceBytes;
  return {
    volumeGroup: group.name,
    groupUuid: group.uuid,
    volume: spec.name,
    thinPool: null,
    deviceClass: deviceClass.name,
    source: source.name,
    sourceUuid: source.uuid,
    sourceBytes: Number(source.sizeBytes),
    sizeBytes: Number(roundUpToExtents(sizeBytes, group.extentSizeBytes)),
    snapshotBytes: isSnapshot ? null : Number(roundUpToExtents(roomBytes, group.extentSizeBytes)),
    holdsSource: isSnapshot && !source.readOnly,
    tags: spec.tags,
  };
}

function describeClone({ volumeGroup, volume, source, sizeBytes, snapshotBytes, tags }: CloneInput): string {
  const size = describeSize(BigInt(sizeBytes));
  const from =
    snapshotBytes === null
      ? "copied from it"
      : `copied from a snapshot with space for ${describeSize(BigInt(snapshotBytes))} of changes`;
  return `${volumeGroup}/${volume}, a clone of ${source}, is created with ${size}, and ${from}${describeTags(tags)}`;
}

function plannedSteps(lvm: LvmAdapter, state: LvmState, resolved: ResolvedClass, input: CloneInput) {
  const { volumeGroup: volumeGroupName, volume, source, sizeBytes, snapshotBytes } = input;
  const snapshotName = temporaryName("source", operationId);
  const { name, tags: marks } = marksOf(volume, operationId, "clone");
  const created = { name, sizeBytes: BigInt(sizeBytes), tags: [...input.tags, ...marks] };
  const copy = {
    kind: "copy",
    volumeGroupName,
    name,
    sourceName: snapshotName,
    sizeBytes: BigInt(input.sourceBytes),
    holdsSource: input.holdsSource,
  } as const;
  const snapshot = {
    kind: "snapshot",
    volumeGroupName,
    name: snapshotName,
    originName: source,
    tags: [operationTag(operationId)],
    roomBytes: BigInt(snapshotBytes ?? 0),
  } as const;
  const step = (stepName: string, command: readonly string[]) => ({ name: stepName, command });
  const changeTags = {
    kind: "changeTags",
    volumeGroupName,
    name: volume,
    addTags: [],
    removeTags: marks,
  } as const;
  return [
    ...(snapshotBytes === null ? [] : [step("snapshot", lvm.commandOf(snapshot))]),
    step("create", lvm.commandOf(createVolumeStep(state, resolved, created))),
    step("copy", lvm.data.commandOf(copy)),
    step("release", lvm.commandOf({ kind: "rename", volumeGroupName, name, newName: volume })),
    step("removeTags", lvm.commandOf(changeTags)),
    ...(snapshotBytes === null
      ? []
      : [step("removeSnapshot", lvm.commandOf({ kind: "remove", volumeGroupName, name: snapshotName }))]),
  ];
}
