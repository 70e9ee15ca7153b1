import type { Reason } from "../../host/define-reasons.ts";
import { InfraError } from "../../host/infra-error.ts";
import type { LvmDeviceStep, PhysicalVolume } from "../device-adapter.ts";
import { physicalVolumeObstacle } from "../devices.ts";
import { volumeGroupResource } from "../names.ts";
import { lvmReasons } from "../reasons.ts";
import type { SandboxGroups } from "./sandbox-groups.ts";

/**
 * Applies a step to the devices of the groups as LVM would, with its messages.
 * @throws InfraError as LVM would refuse the step; nothing has changed then
 */
export function applySandboxDeviceStep(groups: SandboxGroups, step: LvmDeviceStep): void {
  const { volumeGroupName } = step;
  const { devices } = groups;
  const group = groups.groupNamed(volumeGroupName);
  if (group === undefined) {
    throw failure(lvmReasons.VOLUME_GROUP_GONE, step, `Volume group "${volumeGroupName}" not found`);
  }
  if (step.kind === "addDevices") {
    for (const path of step.paths) {
      const isLeft = devices
        .physicalVolumes()
        .some((one) => one.path === path && one.volumeGroupName === undefined);
      const obstacles = devices
        .facts(path)
        .obstacles.filter((one) => !(step.isRepeated === true && isLeft && one === physicalVolumeObstacle));
      if (obstacles.length > 0) {
        throw failure(lvmReasons.DEVICE_NOT_USABLE, step, `${path} cannot be used: ${obstacles.join(", ")}`);
      }
    }
    for (const path of step.paths) {
      devices.free(path);
      devices.join(path, volumeGroupName, group.extentSizeBytes);
    }
    return;
  }
  const { path } = step;
  const ofGroup = devices.physicalVolumes().filter((one) => one.volumeGroupName === volumeGroupName);
  const found = devices.physicalVolumes().find((one) => one.path === path);
  if (step.kind === "freeDevice") {
    free(groups, step, found);
    return;
  }
  if (found?.volumeGroupName !== volumeGroupName) {
    throw failure(lvmReasons.DEVICE_NOT_USABLE, step, `Failed to find physical volume "${path}".`);
  }
  switch (step.kind) {
    case "setAllocatable":
      devices.setAllocatable(path, step.allocatable);
      break;
    case "moveAway":
      if (!devices.moveAway(path)) {
        throw failure(lvmReasons.POOL_CANNOT_SHRINK, step, "No extents available for allocation");
      }
      break;
    case "abortMove":
      break;
    case "takeDevice":
      if (found.usedBytes > 0n) {
        throw failure(lvmReasons.POOL_CANNOT_SHRINK, step, `Physical volume "${path}" still in use`);
      }
      if (ofGroup.length === 1) {
        const words = `Can't remove final physical volume "${path}" from volume group "${volumeGroupName}"`;
        throw failure(lvmReasons.POOL_CANNOT_SHRINK, step, words);
      }
      devices.leave(path);
      break;
  }
}

function free(groups: SandboxGroups, step: LvmDeviceStep, found: PhysicalVolume | undefined): void {
  if (found === undefined) {
    throw failure(lvmReasons.DEVICE_NOT_USABLE, step, "No PV found on device.");
  }
  if (found.volumeGroupName !== undefined) {
    const words = `PV ${found.path} is used by VG ${found.volumeGroupName} so please use vgreduce first.`;
    throw failure(lvmReasons.DEVICE_NOT_USABLE, step, words);
  }
  groups.devices.free(found.path);
}

function failure(reason: Reason, { volumeGroupName }: LvmDeviceStep, words: string): InfraError {
  return new InfraError(reason, words, { resource: volumeGroupResource(volumeGroupName) });
}
