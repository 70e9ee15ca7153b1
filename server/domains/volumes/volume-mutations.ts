import { describeSize } from "../../../adapters/host/describe-size.ts";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import type { LogicalVolume, LvmAdapter, LvmState, LvmStep } from "../../../adapters/lvm/adapter.ts";
import { volumeGroupResource, volumeResource } from "../../../adapters/lvm/names.ts";
import { lvmReasons } from "../../../adapters/lvm/reasons.ts";
import { roundUpToExtents } from "../../backups/lvm/extents.ts";
import { shownName } from "../../backups/lvm/operation-marks.ts";
import { isProtected } from "../../backups/lvm/volume-refusals.ts";
import type { Mutation, MutationStep } from "../../operations/mutation.ts";
import {
  allocatableBytes,
  createOptionsOf,
  describeStore,
  type ResolvedClass,
  volumesOf,
} from "./device-class.ts";
import { assertRemovable, assertResizable, type IsProtectedName } from "./protection.ts";

/**
 * Describes the creation of a volume. As in the original server, it may use the class's spare: that space is reserved for
 * snapshots and not reported as free, but it is not forbidden.
 * @throws InfraError VOLUME_EXISTS, NO_SPACE
 */
export function describeCreate(
  lvm: LvmAdapter,
  state: LvmState,
  resolved: ResolvedClass,
  wanted: WantedCreateStep,
): Mutation {
  const { group } = resolved;
  const step = createVolumeStep(state, resolved, wanted);
  const sizeBytes = roundUpToExtents(wanted.sizeBytes, group.extentSizeBytes);
  return {
    kind: "volumes.create",
    resource: volumeResource(group.name, wanted.name),
    backend: group.uuid,
    plan: { changes: [describeNewVolume(resolved, wanted, sizeBytes)], losses: [] },
    steps: [stepOf(lvm, step)],
    pointOfNoReturn: 0,
  };
}

interface WantedCreateStep {
  readonly name: string;
  readonly sizeBytes: bigint;
  readonly tags: readonly string[];
  /** Options for lvcreate; those of the device class if absent. */
  readonly options?: readonly string[];
}

/** The step that creates a volume. */
export type LvmCreateStep = Extract<LvmStep, { kind: "create" }>;

/** @throws InfraError VOLUME_EXISTS, NO_SPACE */
export function createVolumeStep(
  state: LvmState,
  resolved: ResolvedClass,
  { name, sizeBytes, tags, options = createOptionsOf(resolved.deviceClass) }: WantedCreateStep,
): LvmCreateStep {
  const { group, pool } = resolved;
  assertNameFree(state, group.name, name);
  assertSpace(resolved, state, roundUpToExtents(sizeBytes, group.extentSizeBytes));
  return {
    kind: "create",
    volumeGroupName: group.name,
    name,
    sizeBytes,
    tags,
    ...(options.length === 0 ? {} : { options }),
    ...(pool === undefined ? {} : { thinPoolName: pool.name }),
  };
}

/** @throws InfraError VOLUME_EXISTS */
export function assertNameFree(state: LvmState, volumeGroupName: string, name: string): void {
  if (state.volumes.some((one) => one.volumeGroupName === volumeGroupName && shownName(one) === name)) {
    throw new InfraError(lvmReasons.VOLUME_EXISTS, `${volumeGroupName}/${name} already exists`, {
      resource: volumeResource(volumeGroupName, name),
    });
  }
}

/**
 * Describes growing a volume to `sizeBytes`. There is no step if the volume already has that size, or if it is larger and
 * `skipsShrinking` is set.
 * @throws InfraError VOLUME_NOT_FOUND, VOLUME_PROTECTED, SHRINK_NOT_ALLOWED, NO_SPACE
 */
export function describeResize(
  lvm: LvmAdapter,
  state: LvmState,
  resolved: ResolvedClass,
  wanted: { readonly name: string; readonly sizeBytes: bigint; readonly skipsShrinking: boolean },
  isProtectedName: IsProtectedName,
): Mutation {
  const { group } = resolved;
  const resource = volumeResource(group.name, wanted.name);
  const volume = findVolume(resolved, state, wanted.name);
  if (volume === undefined) {
    throw new InfraError(lvmReasons.VOLUME_NOT_FOUND, `logical volume ${wanted.name} is not found`, {
      resource,
    });
  }
  assertResizable(volume, isProtectedName);
  assertOfClass(volume, resolved);
  const wantedBytes = roundUpToExtents(wanted.sizeBytes, group.extentSizeBytes);
  const sizeBytes = wanted.skipsShrinking && wantedBytes < volume.sizeBytes ? volume.sizeBytes : wantedBytes;
  if (sizeBytes < volume.sizeBytes) {
    throw new InfraError(
      lvmReasons.SHRINK_NOT_ALLOWED,
      `shrinking volume size is not allowed: ${group.name}/${wanted.name} has ${volume.sizeBytes} bytes, requested=${sizeBytes}`,
      { resource },
    );
  }
  assertSpace(resolved, state, sizeBytes - volume.sizeBytes);
  const isSame = sizeBytes === volume.sizeBytes;
  const change = `${group.name}/${wanted.name} grows from ${describeSize(volume.sizeBytes)} to ${describeSize(sizeBytes)}`;
  return {
    kind: "volumes.resize",
    resource,
    backend: group.uuid,
    plan: { changes: isSame ? [] : [change], losses: [] },
    steps: isSame
      ? []
      : [stepOf(lvm, { kind: "resize", volumeGroupName: group.name, name: wanted.name, sizeBytes })],
    pointOfNoReturn: 0,
  };
}

/**
 * Describes the removal of a volume. For a missing volume there is no step, or an error if `mustExist` is set.
 * @throws InfraError VOLUME_NOT_FOUND, VOLUME_PROTECTED
 */
export function describeRemove(
  lvm: LvmAdapter,
  state: LvmState,
  resolved: ResolvedClass,
  { name, mustExist }: { readonly name: string; readonly mustExist: boolean },
  isProtectedName: IsProtectedName,
): Mutation {
  const { group } = resolved;
  const volume = findVolume(resolved, state, name);
  if (volume !== undefined) {
    assertRemovable(volume, state, isProtectedName);
  } else if (mustExist) {
    throw new InfraError(lvmReasons.VOLUME_NOT_FOUND, `logical volume ${name} is not found`, {
      resource: volumeResource(group.name, name),
    });
  }
  const step: LvmStep = { kind: "remove", volumeGroupName: group.name, name };
  return {
    kind: "volumes.remove",
    resource: volumeResource(group.name, name),
    backend: group.uuid,
    plan: {
      changes: volume === undefined ? [] : [`${group.name}/${name} is removed`],
      losses: volume === undefined ? [] : [describeLoss(volume)],
    },
    steps: volume === undefined ? [] : [stepOf(lvm, step)],
    pointOfNoReturn: 0,
  };
}

/** @throws InfraError VOLUME_PROTECTED for a thin volume that is addressed through its group's class, not its pool's */
export function assertOfClass(volume: LogicalVolume, { pool }: ResolvedClass): void {
  if (pool === undefined && volume.thinPoolName !== undefined) {
    throw isProtected(
      volume,
      `it is a thin volume of ${volume.thinPoolName}: use the device class of that pool`,
    );
  }
}

/**
 * Finds a volume of the class by name.
 * @throws InfraError VOLUME_PROTECTED for a thin pool, which holds volumes and is not one of them
 */
export function findVolume(
  resolved: ResolvedClass,
  state: LvmState,
  name: string,
): LogicalVolume | undefined {
  const isPool = state.volumes.find(
    (one) => one.volumeGroupName === resolved.group.name && one.name === name && one.kind === "thinPool",
  );
  if (isPool !== undefined) {
    throw isProtected(isPool, "it is a thin pool");
  }
  return volumesOf(resolved, state).find((one) => shownName(one) === name);
}

/** @throws InfraError NO_SPACE */
export function assertSpace(resolved: ResolvedClass, state: LvmState, neededBytes: bigint): void {
  const freeBytes = allocatableBytes(resolved, state);
  if (freeBytes < neededBytes) {
    throw new InfraError(
      hostReasons.NO_SPACE,
      `no enough space left on ${describeStore(resolved.deviceClass)}: free=${freeBytes}, requested=${neededBytes}`,
      { resource: volumeGroupResource(resolved.group.name) },
    );
  }
}

function describeNewVolume(
  { group, pool }: ResolvedClass,
  { name, tags, options = [] }: WantedCreateStep,
  sizeBytes: bigint,
): string {
  const place = pool === undefined ? "" : ` in thin pool ${group.name}/${pool.name}`;
  const words = options.length === 0 ? "" : `, with the lvcreate options ${options.join(" ")}`;
  return `${group.name}/${name} is created with ${describeSize(sizeBytes)}${place}${words}${describeTags(tags)}`;
}

/** Returns the suffix that lists the tags in a plan's text; empty without tags. */
export function describeTags(tags: readonly string[]): string {
  return tags.length === 0 ? "" : `, tagged ${tags.join(", ")}`;
}

function describeLoss({ volumeGroupName, name, kind, originName, sizeBytes }: LogicalVolume): string {
  return kind === "snapshot"
    ? `${volumeGroupName}/${name}, a snapshot of ${originName}: the data of ${originName} at the time of the snapshot`
    : `all data on ${volumeGroupName}/${name}, ${describeSize(sizeBytes)}`;
}

export function stepOf(lvm: LvmAdapter, step: LvmStep): MutationStep {
  return { name: step.kind, command: lvm.commandOf(step), forward: () => lvm.run(step) };
}
