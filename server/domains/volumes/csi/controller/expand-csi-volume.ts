import { InfraError, invalidField } from "../../../../../adapters/host/infra-error.ts";
import type { LvmState } from "../../../../../adapters/lvm/adapter.ts";
import type { ControllerExpandVolumeRequest } from "../../../../../gen/csi/v1/csi_pb.ts";
import type { LocatedChange } from "../../../../domain/short-change.ts";
import type { Mutation } from "../../../../operations/mutation.ts";
import { createResizeVolume } from "../../changes/resize-volume.ts";
import { targetOf } from "../../changes/volume-change.ts";
import { assertResolved } from "../../device-class.ts";
import { type CapacityRange, parseCapacityRange, sizeWithin } from "../capacity-range.ts";
import type { CsiParts } from "../csi-parts.ts";
import { assertId, type CsiVolume, requireCsiVolume, resourceOfId } from "../csi-volume.ts";
import { csiReasons } from "../reasons.ts";
import { assertNotRead } from "./assert-not-read.ts";
import { allocationUnitBytes } from "./requested-volume.ts";

/** A volume to grow. */
export interface ExpandCsiVolumeSpec {
  readonly id: string;
  readonly range: CapacityRange;
  readonly found: CsiVolume | undefined;
  /** Whether the request says that the volume is a raw block device. */
  readonly isBlock: boolean;
}

/** ControllerExpandVolume: grows the block device. Without a step if it is already large enough. */
export function createExpandCsiVolume(
  parts: CsiParts,
): LocatedChange<ControllerExpandVolumeRequest, ExpandCsiVolumeSpec, LvmState> {
  return {
    /** @throws InfraError INVALID_FIELD */
    parse({ volumeId: id, capacityRange, volumeCapability }) {
      assertId(id, "volume_id");
      const range = parseCapacityRange(capacityRange);
      if (range.requiredBytes === 0n && range.limitBytes === undefined) {
        throw invalidField("capacity_range", "must have required_bytes or limit_bytes");
      }
      const isBlock = volumeCapability?.accessType.case === "block";
      return { id, range, found: undefined, isBlock };
    },
    /** @throws InfraError VOLUME_NOT_FOUND */
    locate: (spec, state) => ({
      ...spec,
      found: requireCsiVolume(state, parts.deviceClasses, "volume", spec.id),
    }),
    targetOf: targetOfExpansion,
    check: ({ id, range }, state) => expansion(parts, id, range, state),
    preflight({ id }, state) {
      const { volume, deviceClass } = requireCsiVolume(state, parts.deviceClasses, "volume", id);
      const request = { name: volume.name, deviceClass, sizeBytes: volume.sizeBytes, skipsShrinking: true };
      createResizeVolume(parts).preflight?.(request, state);
    },
  };
}

/** Returns the target of a change that may grow a volume. */
export function targetOfExpansion({ id, found }: Pick<ExpandCsiVolumeSpec, "id" | "found">) {
  return found === undefined
    ? { resource: resourceOfId(id) }
    : targetOf({ name: found.volume.name, deviceClass: found.deviceClass });
}

/**
 * Describes the growth of a volume to a size within the range.
 * @throws InfraError VOLUME_NOT_FOUND, VOLUME_GROUP_GONE, VOLUME_PROTECTED, NO_SPACE, CSI_CAPACITY, CSI_PENDING
 */
export function expansion(parts: CsiParts, id: string, range: CapacityRange, state: LvmState): Mutation {
  const found = requireCsiVolume(state, parts.deviceClasses, "volume", id);
  const { volume, deviceClass } = found;
  const resolved = assertResolved(deviceClass, state);
  if (range.limitBytes !== undefined && volume.sizeBytes > range.limitBytes) {
    throw new InfraError(
      csiReasons.CSI_CAPACITY,
      `volume ${id} has ${volume.sizeBytes} bytes, which is above limit_bytes ${range.limitBytes}; it never shrinks`,
      { resource: resourceOfId(id) },
    );
  }
  const isLargeEnough = volume.sizeBytes >= range.requiredBytes;
  if (!isLargeEnough) {
    assertNotRead(state, found);
  }
  const sizeBytes = isLargeEnough ? volume.sizeBytes : sizeWithin(range, 0n, allocationUnitBytes(resolved));
  const request = { name: volume.name, deviceClass, sizeBytes, skipsShrinking: true };
  return createResizeVolume(parts).check(request, state);
}
