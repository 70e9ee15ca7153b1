import { describeSize } from "../../../../adapters/host/describe-size.ts";
import { InfraError, invalidField } from "../../../../adapters/host/infra-error.ts";
import type { LogicalVolume, LvmState, LvmStep } from "../../../../adapters/lvm/adapter.ts";
import { assertSnapshotNames, assertVolumeName, volumeResource } from "../../../../adapters/lvm/names.ts";
import { lvmReasons } from "../../../../adapters/lvm/reasons.ts";
import { snapshotRoomBytes } from "../../../../adapters/lvm/snapshot-room.ts";
import type { CreateLVSnapshotRequest } from "../../../../gen/lvmd/served/lvmd_pb.ts";
import { backupReasons } from "../../../backups/reasons.ts";
import type { ShortChange } from "../../../domain/short-change.ts";
import { roundUpToExtents } from "../../../lvm/extents.ts";
import { assertWhole, isProtected } from "../../../lvm/volume-refusals.ts";
import type { MutationStep } from "../../../operations/mutation.ts";
import { assertResolved, findDeviceClass, type ResolvedClass } from "../device-class.ts";
import { bytesFromSize } from "../size.ts";
import { requestedSizeFrom } from "./requested-size.ts";
import {
  assertNameFree,
  assertOfClass,
  assertSpace,
  assertTags,
  describeTags,
  factsOfSpace,
  factsOfVolume,
  findVolume,
  stepOf,
  targetOf,
  type VolumeChangeParts,
  type VolumeSpec,
} from "./volume-change.ts";

export interface SnapshotSpec extends VolumeSpec {
  readonly sourceName: string;
  /** Undefined: the size of the source. */
  readonly sizeBytes: bigint | undefined;
  /** Space of a copy-on-write snapshot; undefined: enough for a change of every byte. */
  readonly spaceBytes?: bigint | undefined;
  readonly tags: readonly string[];
  readonly readOnly: boolean;
}

type Lvm = VolumeChangeParts["lvm"];

/**
 * The snapshot that a CreateLVSnapshot request describes. One of a thin volume may be larger than its source; one of a thick
 * volume gets room for a change of every byte, so that it never overflows.
 */
export function createSnapshotVolume(
  parts: VolumeChangeParts,
): ShortChange<CreateLVSnapshotRequest, SnapshotSpec, LvmState> {
  return {
    /** @throws InfraError DEVICE_CLASS_NOT_FOUND, INVALID_FIELD */
    parse(request) {
      const { name, tags, sourceVolume: sourceName, accessType } = request;
      if (accessType !== "ro" && accessType !== "rw") {
        throw invalidField("access_type", "must be ro or rw");
      }
      const isAsSource = request.sizeGb === 0n && (request.sizeBytes ?? 0n) === 0n;
      const size = isAsSource ? undefined : requestedSizeFrom(request);
      const deviceClass = findDeviceClass(parts.deviceClasses, request.deviceClass);
      assertVolumeName(name, "name", deviceClass.volumeGroup);
      assertVolumeName(sourceName, "source_volume");
      assertTags(tags);
      const sizeBytes = size && bytesFromSize(size);
      return { name, deviceClass, sourceName, sizeBytes, tags, readOnly: accessType === "ro" };
    },
    ...createSnapshotChecks(parts),
  };
}

/**
 * volumes.snapshot: takes a snapshot of a volume, independent of how a request describes it. A snapshot of a thin volume takes
 * space only as the two diverge.
 */
export function createSnapshotChecks(
  parts: Pick<VolumeChangeParts, "lvm">,
): Omit<ShortChange<never, SnapshotSpec, LvmState>, "parse"> {
  return {
    targetOf: (spec) => ({
      ...targetOf(spec),
      sources: [volumeResource(spec.deviceClass.volumeGroup, spec.sourceName)],
    }),

    /**
     * @throws InfraError VOLUME_GROUP_GONE, VOLUME_EXISTS, VOLUME_NOT_FOUND, VOLUME_PROTECTED, VOLUME_TOO_SMALL, NO_SPACE,
     * INVALID_FIELD
     */
    check(spec, state) {
      const { lvm } = parts;
      const resolved = assertResolved(spec.deviceClass, state);
      const { group, pool } = resolved;
      const { name, tags, readOnly } = spec;
      const source = assertSource(resolved, state, spec);
      const sizeBytes = sizeOf(source, spec);
      assertNameFree(state, group.name, name);
      const snapshot = {
        kind: "snapshot",
        volumeGroupName: group.name,
        name,
        originName: source.name,
        tags,
        ...(readOnly ? { readOnly } : {}),
      } as const;
      const neededBytes =
        pool === undefined
          ? roomBytes(resolved, source, spec)
          : roundUpToExtents(sizeBytes, group.extentSizeBytes);
      assertSpace(resolved, state, neededBytes);
      const steps =
        pool === undefined
          ? [takenStep(lvm, { ...snapshot, roomBytes: neededBytes })]
          : thinSteps(lvm, snapshot, source, neededBytes);
      const kind = readOnly ? "a read-only snapshot" : "a snapshot";
      const limit =
        spec.spaceBytes === undefined || spec.spaceBytes >= sizeBytes
          ? ""
          : `; it becomes invalid when the differences from ${source.name} fill its space of ${describeSize(spec.spaceBytes)}`;
      return {
        kind: "volumes.snapshot",
        resource: volumeResource(group.name, name),
        backend: group.uuid,
        plan: {
          changes: [
            `${group.name}/${name}, ${kind} of ${source.name}, is created with ${describeSize(sizeBytes)}${describeTags(tags)}${limit}`,
          ],
          losses: [],
          facts: [...factsOfVolume(source), ...factsOfSpace(resolved, neededBytes)],
        },
        steps,
        pointOfNoReturn: steps.length - 1,
      };
    },

    /** @throws InfraError VOLUME_GROUP_GONE */
    preflight({ deviceClass }, state) {
      assertWhole(assertResolved(deviceClass, state).group);
    },
  };
}

/** @throws InfraError VOLUME_NOT_FOUND, VOLUME_PROTECTED */
function assertSource(
  resolved: ResolvedClass,
  state: LvmState,
  { name, sourceName }: SnapshotSpec,
): LogicalVolume {
  const { group } = resolved;
  const source = findVolume(resolved, state, sourceName);
  if (source === undefined) {
    throw new InfraError(lvmReasons.VOLUME_NOT_FOUND, `source logical volume ${sourceName} is not found`, {
      resource: volumeResource(group.name, sourceName),
    });
  }
  assertOfClass(source, resolved);
  if (resolved.pool === undefined) {
    if (source.kind === "snapshot") {
      throw isProtected(source, "it is a copy-on-write snapshot, and LVM cannot create a snapshot of it");
    }
    if (source.merging) {
      throw isProtected(source, "a snapshot is being merged into it");
    }
    assertSnapshotNames(group.name, name, source.name);
  }
  return source;
}

/** @throws InfraError VOLUME_TOO_SMALL */
function sizeOf(source: LogicalVolume, { sizeBytes = source.sizeBytes }: SnapshotSpec): bigint {
  if (sizeBytes < source.sizeBytes) {
    throw new InfraError(
      backupReasons.VOLUME_TOO_SMALL,
      `requested size ${sizeBytes} is smaller than source logical volume: ${source.sizeBytes}`,
      { resource: volumeResource(source.volumeGroupName, source.name) },
    );
  }
  return sizeBytes;
}

/** @throws InfraError INVALID_FIELD */
function roomBytes(
  resolved: ResolvedClass,
  source: LogicalVolume,
  { sizeBytes = source.sizeBytes, spaceBytes }: SnapshotSpec,
): bigint {
  if (sizeBytes > source.sizeBytes) {
    throw invalidField(
      "size_bytes",
      `must be 0 or ${source.sizeBytes}, the size of ${source.name}: the snapshot of a thick volume has the size of its source`,
    );
  }
  const mostBytes = snapshotRoomBytes(sizeBytes, 100);
  const neededBytes = spaceBytes === undefined || spaceBytes > mostBytes ? mostBytes : spaceBytes;
  return roundUpToExtents(neededBytes, resolved.group.extentSizeBytes);
}

function thinSteps(
  lvm: Lvm,
  snapshot: Extract<LvmStep, { kind: "snapshot" }>,
  source: LogicalVolume,
  sizeBytes: bigint,
): MutationStep[] {
  const { volumeGroupName, name } = snapshot;
  const grown = { kind: "resize", volumeGroupName, name, sizeBytes } as const;
  return [takenStep(lvm, snapshot), ...(sizeBytes > source.sizeBytes ? [stepOf(lvm, grown)] : [])];
}

/** Returns the step that takes a snapshot; undoing it removes the snapshot. */
function takenStep(lvm: Lvm, snapshot: Extract<LvmStep, { kind: "snapshot" }>): MutationStep {
  const { volumeGroupName, name } = snapshot;
  return { ...stepOf(lvm, snapshot), undo: () => lvm.run({ kind: "remove", volumeGroupName, name }) };
}
