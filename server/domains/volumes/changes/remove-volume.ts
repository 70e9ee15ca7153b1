import { describeSize } from "../../../../adapters/host/describe-size.ts";
import { hasReason, InfraError } from "../../../../adapters/host/infra-error.ts";
import type { LogicalVolume, LvmState } from "../../../../adapters/lvm/adapter.ts";
import { volumeResource } from "../../../../adapters/lvm/names.ts";
import { lvmReasons } from "../../../../adapters/lvm/reasons.ts";
import type { RemoveLVRequest } from "../../../../gen/lvmd/served/lvmd_pb.ts";
import type { ReadingChange } from "../../../domain/short-change.ts";
import type { MutationStep } from "../../../operations/mutation.ts";
import { assertResolved, findDeviceClass } from "../device-class.ts";
import { assertClosed, assertRemovable } from "../protection.ts";
import { assertUnmounted } from "./assert-unmounted.ts";
import {
  assertChangeable,
  factsOfVolume,
  findVolume,
  stepOf,
  targetOf,
  type VolumeChangeParts,
  type VolumeSpec,
} from "./volume-change.ts";

export interface RemoveSpec extends VolumeSpec {
  /** Whether a missing volume is VOLUME_NOT_FOUND; otherwise it counts as removed. */
  readonly mustExist: boolean;
}

/** volumes.remove: removes a volume and its data. */
export function createRemoveVolume(
  parts: VolumeChangeParts,
): ReadingChange<RemoveLVRequest, RemoveSpec, LvmState> {
  return {
    /** @throws InfraError DEVICE_CLASS_NOT_FOUND, INVALID_FIELD, VOLUME_PROTECTED */
    parse({ name, deviceClass: className }, { peer }) {
      const deviceClass = findDeviceClass(parts.deviceClasses, className);
      assertChangeable(name, deviceClass);
      return { name, deviceClass, mustExist: peer.lvmd === "current" };
    },

    targetOf,

    /** @throws InfraError VOLUME_GROUP_GONE, VOLUME_NOT_FOUND, VOLUME_PROTECTED, VOLUME_IN_USE, MOUNTS_UNAVAILABLE */
    async check({ name, deviceClass, mustExist }, state) {
      const resolved = assertResolved(deviceClass, state);
      const { group } = resolved;
      const resource = volumeResource(group.name, name);
      const volume = findVolume(resolved, state, name);
      if (volume !== undefined) {
        assertRemovable(volume, state, parts.isProtectedName);
        await (parts.mounts && assertUnmounted(parts.mounts, volume));
      } else if (mustExist) {
        throw new InfraError(lvmReasons.VOLUME_NOT_FOUND, `logical volume ${name} is not found`, {
          resource,
        });
      }
      const removal = stepOf(parts.lvm, { kind: "remove", volumeGroupName: group.name, name });
      return {
        kind: "volumes.remove",
        resource,
        backend: group.uuid,
        plan: {
          changes: volume === undefined ? [] : [`${group.name}/${name} is removed`],
          losses: volume === undefined ? [] : [describeLoss(volume)],
          facts: volume === undefined ? [] : factsOfVolume(volume),
        },
        steps: volume === undefined ? [] : [mustExist ? removal : orGone(removal)],
        pointOfNoReturn: 0,
      };
    },

    /** @throws InfraError VOLUME_IN_USE */
    preflight({ name, deviceClass }, state) {
      assertClosed(state, deviceClass.volumeGroup, name);
    },
  };
}

/** Returns the step for a volume that another process may remove between the check and the command: it is gone, as requested. */
function orGone(removal: MutationStep): MutationStep {
  return {
    ...removal,
    async forward() {
      try {
        await removal.forward();
      } catch (error) {
        if (!hasReason(error, lvmReasons.VOLUME_NOT_FOUND)) {
          throw error;
        }
      }
    },
  };
}

function describeLoss({ volumeGroupName, name, kind, originName, sizeBytes }: LogicalVolume): string {
  return kind === "snapshot"
    ? `${volumeGroupName}/${name}, a snapshot of ${originName}: the data of ${originName} at the time of the snapshot`
    : `all data on ${volumeGroupName}/${name}, ${describeSize(sizeBytes)}`;
}
