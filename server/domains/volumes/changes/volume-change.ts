import { InfraError, invalidField } from "../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import type { LogicalVolume, LvmAdapter, LvmState, LvmStep } from "../../../../adapters/lvm/adapter.ts";
import {
  assertTag,
  assertVolumeName,
  isReservedVolumeName,
  volumeGroupResource,
  volumeResource,
} from "../../../../adapters/lvm/names.ts";
import { lvmReasons } from "../../../../adapters/lvm/reasons.ts";
import type { MountAdapter } from "../../../../adapters/mounts/adapter.ts";
import type { ChangeTarget } from "../../../domain/short-change.ts";
import { reservedTagStart, shownName } from "../../../lvm/operation-marks.ts";
import { isProtected } from "../../../lvm/volume-refusals.ts";
import type { MutationStep, PlanFact } from "../../../operations/mutation.ts";
import { atLeast, factsOf } from "../../../operations/plan-facts.ts";
import {
  allocatableBytes,
  type DeviceClass,
  describeStore,
  type LvcreateOptionClass,
  type ResolvedClass,
  volumesOf,
} from "../device-class.ts";
import type { IsProtectedName } from "../protection.ts";

/** What the changes of volumes depend on. */
export interface VolumeChangeParts {
  readonly lvm: Pick<LvmAdapter, "run" | "commandOf">;
  readonly deviceClasses: readonly DeviceClass[];
  readonly lvcreateOptionClasses?: readonly LvcreateOptionClass[];
  readonly isProtectedName: IsProtectedName;
  /** Mounts of the host; undefined where the CSI driver is off, which alone publishes raw block devices. */
  readonly mounts?: Pick<MountAdapter, "mounts"> | undefined;
}

/** The part of a validated change that all changes of volumes have. */
export interface VolumeSpec {
  readonly name: string;
  readonly deviceClass: DeviceClass;
}

/**
 * Returns the target of a change. Volumes of a thin pool share one queue, because only hostplane enforces the pool's
 * overprovisioning limit; the space of a group is enforced by LVM itself.
 */
export function targetOf({ name, deviceClass: { volumeGroup, thinPool } }: VolumeSpec): ChangeTarget {
  return {
    resource: volumeResource(volumeGroup, name),
    queue: volumeResource(volumeGroup, thinPool ?? name),
  };
}

/** Returns the step that runs a command of LVM. */
export function stepOf(lvm: VolumeChangeParts["lvm"], step: LvmStep): MutationStep {
  return { name: step.kind, command: lvm.commandOf(step), forward: () => lvm.run(step) };
}

/** Each tag adds two arguments to one command line, whose length the system limits. */
const maxTagCount = 256;

/** @throws InfraError INVALID_FIELD */
export function assertTags(tags: readonly string[]): void {
  if (tags.length > maxTagCount) {
    throw invalidField("tags", `must have at most ${maxTagCount} entries, has ${tags.length}`);
  }
  for (const [index, tag] of tags.entries()) {
    assertTag(tag, `tags[${index}]`);
    if (tag.startsWith(reservedTagStart)) {
      throw invalidField(
        `tags[${index}]`,
        `must not begin with ${reservedTagStart}, which is reserved for the gateway`,
      );
    }
  }
}

/** Returns the suffix that lists the tags in a plan's text; empty without tags. */
export function describeTags(tags: readonly string[]): string {
  return tags.length === 0 ? "" : `, tagged ${tags.join(", ")}`;
}

/**
 * Rejects names that LVM reserves for its internal volumes (`x_tmeta`, `lvol0_pmspare`). Such volumes exist, but must not
 * be changed.
 * @throws InfraError VOLUME_PROTECTED, INVALID_FIELD
 */
export function assertChangeable(name: string, { volumeGroup }: DeviceClass): void {
  if (isReservedVolumeName(name)) {
    throw isProtected(
      { volumeGroupName: volumeGroup, name },
      "the name is reserved for LVM's internal volumes",
    );
  }
  assertVolumeName(name, "name");
}

/**
 * Rejects names that a new or renamed volume cannot have.
 * @throws InfraError INVALID_FIELD
 */
export function assertNewName(
  name: string,
  field: string,
  { volumeGroup }: DeviceClass,
  isProtectedName: IsProtectedName,
): void {
  assertVolumeName(name, field, volumeGroup);
  if (isProtectedName(name)) {
    throw invalidField(
      field,
      "must not match `volumes.protect`: such a volume could never be removed or resized",
    );
  }
}

/** @throws InfraError VOLUME_EXISTS */
export function assertNameFree(state: LvmState, volumeGroupName: string, name: string): void {
  if (state.volumes.some((one) => one.volumeGroupName === volumeGroupName && shownName(one) === name)) {
    throw new InfraError(lvmReasons.VOLUME_EXISTS, `${volumeGroupName}/${name} already exists`, {
      resource: volumeResource(volumeGroupName, name),
    });
  }
}

/** Share of a thin pool's metadata, in percent, from which on nothing is added to the pool: it fails when that is full. */
const maxMetadataPercent = 95;

/** @throws InfraError NO_SPACE, also if the thin pool of the class is full or its metadata nearly is */
export function assertSpace(resolved: ResolvedClass, state: LvmState, neededBytes: bigint): void {
  if (resolved.pool !== undefined && neededBytes > 0n) {
    assertPoolUsable(resolved.pool);
  }
  const freeBytes = allocatableBytes(resolved, state);
  if (freeBytes < neededBytes) {
    throw new InfraError(
      hostReasons.NO_SPACE,
      `no enough space left on ${describeStore(resolved.deviceClass)}: free=${freeBytes}, requested=${neededBytes}`,
      { resource: volumeGroupResource(resolved.group.name) },
    );
  }
}

/** @throws InfraError NO_SPACE */
function assertPoolUsable(pool: LogicalVolume): void {
  const { volumeGroupName, name } = pool;
  const why = whyUnusable(pool);
  if (why !== undefined) {
    throw new InfraError(
      hostReasons.NO_SPACE,
      `thin pool ${volumeGroupName}/${name} ${why}: grow the pool first`,
      {
        resource: volumeResource(volumeGroupName, name),
      },
    );
  }
}

/** Returns why nothing can be added to a thin pool, as the end of a sentence that begins with its name; undefined if it can. */
export function whyUnusable({
  health,
  dataPercent = 0,
  metadataPercent = 0,
}: Pick<LogicalVolume, "health" | "dataPercent" | "metadataPercent">): string | undefined {
  if (health === "outOfDataSpace" || dataPercent >= 100) {
    return `is full (${dataPercent} % of its data space is used)`;
  }
  return health === "metadataReadOnly" || metadataPercent >= maxMetadataPercent
    ? `has nearly no metadata space left (${metadataPercent} % is used)`
    : undefined;
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

/**
 * Returns the volume that a change is for.
 * @throws InfraError VOLUME_NOT_FOUND, VOLUME_PROTECTED
 */
export function requireVolume(resolved: ResolvedClass, state: LvmState, name: string): LogicalVolume {
  const volume = findVolume(resolved, state, name);
  if (volume === undefined) {
    const message = `volume ${name} not found in ${describeStore(resolved.deviceClass)}`;
    throw new InfraError(lvmReasons.VOLUME_NOT_FOUND, message, {
      resource: volumeResource(resolved.group.name, name),
    });
  }
  assertOfClass(volume, resolved);
  return volume;
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

/** Returns the facts that a change of an existing volume is based on. */
export function factsOfVolume(volume: LogicalVolume): PlanFact[] {
  const { volumeGroupName, name, uuid, sizeBytes, kind } = volume;
  return factsOf(volumeResource(volumeGroupName, name), { uuid, sizeBytes, kind });
}

/** Returns the fact that a class has space for a change; none if the change needs no space. */
export function factsOfSpace({ group, pool }: ResolvedClass, neededBytes: bigint): PlanFact[] {
  const resource =
    pool === undefined ? volumeGroupResource(group.name) : volumeResource(group.name, pool.name);
  return neededBytes === 0n ? [] : factsOf(resource, { freeBytes: atLeast(neededBytes) });
}
