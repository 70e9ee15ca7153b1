import { InfraError, invalidField } from "../../../../../adapters/host/infra-error.ts";
import type { LvmState } from "../../../../../adapters/lvm/adapter.ts";
import type { SnapshotSpec } from "../../changes/snapshot-volume.ts";
import {
  assertResolved,
  type DeviceClass,
  findDeviceClass,
  layoutOf,
  type ResolvedClass,
} from "../../device-class.ts";
import { type CapacityRange, isInRange, sizeWithin } from "../capacity-range.ts";
import { type CsiSource, csiTags, nameDigestOf } from "../csi-marks.ts";
import type { CsiParts } from "../csi-parts.ts";
import { type CsiVolume, logicalVolumeName, requireCsiVolume, resourceOfId } from "../csi-volume.ts";
import { csiReasons } from "../reasons.ts";

/** A volume to create. */
export interface CreateCsiVolumeSpec {
  /** Name in CSI. */
  readonly name: string;
  /** Undefined until it is located: that of the source, else the default class. */
  readonly deviceClass: DeviceClass | undefined;
  readonly range: CapacityRange;
  /** Size that the file system needs, or a usual size if none is required. */
  readonly leastBytes: bigint;
  readonly source: CsiSource | undefined;
}

/** Size of a volume for which no size is required. */
const defaultBytes = 1n << 30n;

/** Returns the logical volume that the request is for. */
export function placeOf(
  { deviceClasses, isProtectedName }: CsiParts,
  { name, deviceClass = findDeviceClass(deviceClasses, "") }: CreateCsiVolumeSpec,
): { readonly name: string; readonly deviceClass: DeviceClass } {
  return { name: logicalVolumeName("volume", name, deviceClass, isProtectedName), deviceClass };
}

/**
 * Checks that a volume which exists, or is being created, is the one that a request asks for.
 * @throws InfraError CSI_DIFFERS
 */
export function assertCompatible(
  { name, deviceClass, source, range, leastBytes }: CreateCsiVolumeSpec,
  { id, marks, className }: Pick<CsiVolume, "id" | "marks"> & { readonly className: string },
): void {
  const difference =
    className !== deviceClass?.name
      ? `it is of device class ${className}`
      : marks.source?.id !== source?.id || marks.source?.kind !== source?.kind
        ? `it was created ${marks.source === undefined ? "empty" : `from ${marks.source.kind} ${marks.source.id}`}`
        : isInRange(marks.sizeBytes, range) && marks.sizeBytes >= leastBytes
          ? undefined
          : `it was created with ${marks.sizeBytes} bytes`;
  if (difference !== undefined) {
    throw new InfraError(csiReasons.CSI_DIFFERS, `volume ${name} exists as ${id}, but ${difference}`, {
      resource: resourceOfId(id),
    });
  }
}

/**
 * Returns the unit in which LVM allocates volumes of a class. It rounds a striped one up to the same number of extents on each
 * device: `Rounding size 12.00 MiB (3 extents) up to stripe boundary size 16.00 MiB (4 extents).`
 */
export function allocationUnitBytes({ group, deviceClass }: ResolvedClass): bigint {
  return group.extentSizeBytes * BigInt(layoutOf(deviceClass).dataCount);
}

/**
 * Returns the size of a volume that is created empty: what is required, else the usual size as far as the limit allows.
 * @throws InfraError CSI_CAPACITY
 */
export function emptySizeOf(
  { range, leastBytes }: Pick<CreateCsiVolumeSpec, "range" | "leastBytes">,
  unitBytes: bigint,
): bigint {
  const { requiredBytes, limitBytes = defaultBytes } = range;
  const allowedBytes = (limitBytes / unitBytes) * unitBytes;
  const usualBytes = allowedBytes < defaultBytes ? allowedBytes : defaultBytes;
  return sizeWithin(range, requiredBytes === 0n ? most(usualBytes, leastBytes) : leastBytes, unitBytes);
}

/**
 * Describes the clone that a request with a source asks for.
 * @throws InfraError VOLUME_NOT_FOUND, VOLUME_GROUP_GONE, CSI_CAPACITY, INVALID_FIELD
 */
export function cloneSpecOf(
  parts: CsiParts,
  spec: CreateCsiVolumeSpec,
  from: CsiSource,
  state: LvmState,
): SnapshotSpec {
  const { name, deviceClass } = placeOf(parts, spec);
  const source = requireCsiVolume(state, parts.deviceClasses, from.kind, from.id);
  if (source.deviceClass.name !== deviceClass.name) {
    throw invalidField(
      "volume_content_source",
      `${from.id} is of device class ${source.deviceClass.name}, not ${deviceClass.name}`,
    );
  }
  const unitBytes = allocationUnitBytes(assertResolved(deviceClass, state));
  const sizeBytes = sizeWithin(spec.range, most(source.volume.sizeBytes, spec.leastBytes), unitBytes);
  const tags = csiTags({ kind: "volume", nameDigest: nameDigestOf(spec.name), sizeBytes, source: from });
  return { name, deviceClass, sourceName: source.volume.name, sizeBytes, tags, readOnly: false };
}

function most(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}
