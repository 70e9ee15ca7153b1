import { describeSize } from "../../../adapters/host/describe-size.ts";
import { InfraError, invalidField } from "../../../adapters/host/infra-error.ts";
import type { LogicalVolume, LvmAdapter, LvmState, LvmStep } from "../../../adapters/lvm/adapter.ts";
import { assertSnapshotNames, volumeResource } from "../../../adapters/lvm/names.ts";
import { lvmReasons } from "../../../adapters/lvm/reasons.ts";
import { snapshotRoomBytes } from "../../../adapters/lvm/snapshot-room.ts";
import { roundUpToExtents } from "../../backups/lvm/extents.ts";
import { isProtected } from "../../backups/lvm/volume-refusals.ts";
import { backupReasons } from "../../backups/reasons.ts";
import type { Mutation, MutationStep } from "../../operations/mutation.ts";
import type { ResolvedClass } from "./device-class.ts";
import {
  assertNameFree,
  assertOfClass,
  assertSpace,
  describeTags,
  findVolume,
  stepOf,
} from "./volume-mutations.ts";

interface WantedSnapshotStep {
  readonly name: string;
  readonly sourceName: string;
  /** Undefined: the size of the source. */
  readonly sizeBytes: bigint | undefined;
  readonly tags: readonly string[];
  readonly readOnly: boolean;
}

/**
 * Describes the creation of a snapshot. A snapshot of a thin volume takes space only as the two diverge, and may be larger
 * than its source. A snapshot of a thick volume gets room for a change of every byte, so that it never overflows.
 * @throws InfraError VOLUME_EXISTS, VOLUME_NOT_FOUND, VOLUME_PROTECTED, VOLUME_TOO_SMALL, NO_SPACE, INVALID_FIELD
 */
export function describeSnapshot(
  lvm: LvmAdapter,
  state: LvmState,
  resolved: ResolvedClass,
  wanted: WantedSnapshotStep,
): Mutation {
  const { group, pool } = resolved;
  const { name, tags, readOnly } = wanted;
  const source = assertSource(resolved, state, wanted);
  const sizeBytes = sizeOf(source, wanted);
  assertNameFree(state, group.name, name);
  const snapshot = {
    kind: "snapshot",
    volumeGroupName: group.name,
    name,
    originName: source.name,
    tags,
  } as const;
  const steps =
    pool === undefined
      ? [
          takenStep(lvm, {
            ...snapshot,
            ...access(readOnly),
            roomBytes: roomBytes(resolved, state, source, sizeBytes),
          }),
        ]
      : thinSteps(lvm, resolved, state, { ...snapshot, ...access(readOnly) }, source, sizeBytes);
  const kind = readOnly ? "a read-only snapshot" : "a snapshot";
  return {
    kind: "volumes.snapshot",
    resource: volumeResource(group.name, name),
    backend: group.uuid,
    plan: {
      changes: [
        `${group.name}/${name}, ${kind} of ${source.name}, is created with ${describeSize(sizeBytes)}${describeTags(tags)}`,
      ],
      losses: [],
    },
    steps,
    pointOfNoReturn: steps.length - 1,
  };
}

/** @throws InfraError VOLUME_NOT_FOUND, VOLUME_PROTECTED */
function assertSource(
  resolved: ResolvedClass,
  state: LvmState,
  { name, sourceName }: WantedSnapshotStep,
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
      throw isProtected(source, "it is a snapshot, and LVM takes no snapshots of snapshots");
    }
    assertSnapshotNames(group.name, name, source.name);
  }
  return source;
}

/** @throws InfraError VOLUME_TOO_SMALL */
function sizeOf(source: LogicalVolume, { sizeBytes = source.sizeBytes }: WantedSnapshotStep): bigint {
  if (sizeBytes < source.sizeBytes) {
    throw new InfraError(
      backupReasons.VOLUME_TOO_SMALL,
      `requested size ${sizeBytes} is smaller than source logical volume: ${source.sizeBytes}`,
      { resource: volumeResource(source.volumeGroupName, source.name) },
    );
  }
  return sizeBytes;
}

/** @throws InfraError NO_SPACE, INVALID_FIELD */
function roomBytes(
  resolved: ResolvedClass,
  state: LvmState,
  source: LogicalVolume,
  sizeBytes: bigint,
): bigint {
  if (sizeBytes > source.sizeBytes) {
    throw invalidField(
      "size_bytes",
      `must be 0 or ${source.sizeBytes}, the size of ${source.name}: the snapshot of a thick volume has the size of its source`,
    );
  }
  const bytes = roundUpToExtents(snapshotRoomBytes(sizeBytes, 100), resolved.group.extentSizeBytes);
  assertSpace(resolved, state, bytes);
  return bytes;
}

/** @throws InfraError NO_SPACE */
function thinSteps(
  lvm: LvmAdapter,
  resolved: ResolvedClass,
  state: LvmState,
  snapshot: Extract<LvmStep, { kind: "snapshot" }>,
  source: LogicalVolume,
  wantedBytes: bigint,
): MutationStep[] {
  const { group } = resolved;
  const sizeBytes = roundUpToExtents(wantedBytes, group.extentSizeBytes);
  assertSpace(resolved, state, sizeBytes);
  const { name } = snapshot;
  const grown = { kind: "resize", volumeGroupName: group.name, name, sizeBytes } as const;
  return [takenStep(lvm, snapshot), ...(sizeBytes > source.sizeBytes ? [stepOf(lvm, grown)] : [])];
}

/** Returns the step that takes a snapshot; undoing it removes the snapshot. */
function takenStep(lvm: LvmAdapter, snapshot: Extract<LvmStep, { kind: "snapshot" }>): MutationStep {
  const { volumeGroupName, name } = snapshot;
  return { ...stepOf(lvm, snapshot), undo: () => lvm.run({ kind: "remove", volumeGroupName, name }) };
}

function access(readOnly: boolean): { readonly readOnly?: true } {
  return readOnly ? { readOnly } : {};
}
