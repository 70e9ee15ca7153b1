import { describeSize } from "../../../../adapters/host/describe-size.ts";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { LvmState } from "../../../../adapters/lvm/adapter.ts";
import { volumeResource } from "../../../../adapters/lvm/names.ts";
import { lvmReasons } from "../../../../adapters/lvm/reasons.ts";
import type { ResizeLVRequest } from "../../../../gen/lvmd/served/lvmd_pb.ts";
import type { ShortChange } from "../../../domain/short-change.ts";
import { roundUpToExtents } from "../../../lvm/extents.ts";
import { assertWhole } from "../../../lvm/volume-refusals.ts";
import { assertResolved, findDeviceClass } from "../device-class.ts";
import { assertNoActiveOrigin, assertResizable } from "../protection.ts";
import { bytesFromSize } from "../size.ts";
import { requestedSizeFrom } from "./requested-size.ts";
import {
  assertChangeable,
  assertOfClass,
  assertSpace,
  factsOfSpace,
  factsOfVolume,
  findVolume,
  stepOf,
  targetOf,
  type VolumeChangeParts,
  type VolumeSpec,
} from "./volume-change.ts";

export interface ResizeSpec extends VolumeSpec {
  readonly sizeBytes: bigint;
  /** Whether a volume that is already larger stays unchanged; otherwise the request is SHRINK_NOT_ALLOWED. */
  readonly skipsShrinking: boolean;
}

/** volumes.resize: grows a volume. There is no step if the volume already has that size. */
export function createResizeVolume(
  parts: VolumeChangeParts,
): ShortChange<ResizeLVRequest, ResizeSpec, LvmState> {
  return {
    /** @throws InfraError DEVICE_CLASS_NOT_FOUND, INVALID_FIELD, VOLUME_PROTECTED */
    parse(request, { peer }) {
      const { name } = request;
      const size = requestedSizeFrom(request);
      const deviceClass = findDeviceClass(parts.deviceClasses, request.deviceClass);
      assertChangeable(name, deviceClass);
      return { name, deviceClass, sizeBytes: bytesFromSize(size), skipsShrinking: peer.lvmd === "current" };
    },

    targetOf,

    /** @throws InfraError VOLUME_GROUP_GONE, VOLUME_NOT_FOUND, VOLUME_PROTECTED, SHRINK_NOT_ALLOWED, NO_SPACE */
    check({ name, deviceClass, sizeBytes: requestedBytes, skipsShrinking }, state) {
      const resolved = assertResolved(deviceClass, state);
      const { group } = resolved;
      const resource = volumeResource(group.name, name);
      const volume = findVolume(resolved, state, name);
      if (volume === undefined) {
        throw new InfraError(lvmReasons.VOLUME_NOT_FOUND, `logical volume ${name} is not found`, {
          resource,
        });
      }
      assertResizable(volume, parts.isProtectedName);
      assertOfClass(volume, resolved);
      const extentBytes = roundUpToExtents(requestedBytes, group.extentSizeBytes);
      const sizeBytes = skipsShrinking && extentBytes < volume.sizeBytes ? volume.sizeBytes : extentBytes;
      if (sizeBytes < volume.sizeBytes) {
        throw new InfraError(
          lvmReasons.SHRINK_NOT_ALLOWED,
          `shrinking volume size is not allowed: ${group.name}/${name} has ${volume.sizeBytes} bytes, requested=${sizeBytes}`,
          { resource },
        );
      }
      assertSpace(resolved, state, sizeBytes - volume.sizeBytes);
      const isSame = sizeBytes === volume.sizeBytes;
      const change = `${group.name}/${name} grows from ${describeSize(volume.sizeBytes)} to ${describeSize(sizeBytes)}`;
      const step = { kind: "resize", volumeGroupName: group.name, name, sizeBytes } as const;
      return {
        kind: "volumes.resize",
        resource,
        backend: group.uuid,
        plan: {
          changes: isSame ? [] : [change],
          losses: [],
          facts: [...factsOfVolume(volume), ...factsOfSpace(resolved, sizeBytes - volume.sizeBytes)],
        },
        steps: isSame ? [] : [stepOf(parts.lvm, step)],
        pointOfNoReturn: 0,
      };
    },

    /** @throws InfraError VOLUME_GROUP_GONE, VOLUME_PROTECTED */
    preflight({ name, deviceClass }, state) {
      const { group } = assertResolved(deviceClass, state);
      assertWhole(group);
      assertNoActiveOrigin(state, group.name, name);
    },
  };
}
