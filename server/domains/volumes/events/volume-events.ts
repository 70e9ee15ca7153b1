import { volumeGroupResource, volumeResource } from "../../../../adapters/lvm/names.ts";
import type { NewEvent } from "../../../events/store/events.ts";
import { operationOf } from "../../../lvm/operation-marks.ts";
import { type DeviceClass, deviceClassOf } from "../device-class.ts";
import { volumeServices } from "../monitoring/volume-services.ts";
import type { GroupDifference } from "./group-differences.ts";
import type { OwnChange } from "./own-changes.ts";
import type { VolumeDifference } from "./volume-differences.ts";

/** Data that all volume events share. */
export interface EventOrigin {
  readonly host: string;
  readonly deviceClasses: readonly DeviceClass[];
}

/** Services that already expose volumes: callers of one of them may receive these events. */
export const services: readonly string[] = [...volumeServices, "hostplane.v1.BackupService"];

// A payload is the JSON of a hostplane.v1.Event with only its detail set.

/** @param own the gateway's change that caused the difference; undefined for a change from outside */
export function volumeEvent(
  difference: VolumeDifference,
  own: OwnChange | undefined,
  { host, deviceClasses }: EventOrigin,
): NewEvent {
  const { type, volume, before, changes } = difference;
  const { name, groupName, sizeBytes, tags, kind, thinPoolName } = volume;
  const placed = { volumeGroupName: groupName, kind, thinPoolName };
  const operationId = operationOf(volume) ?? (before === undefined ? undefined : operationOf(before));
  // A new volume with an operation's tag was created by that operation, even if its gateway has died since.
  const isOurs = own !== undefined || (type === "volume.created" && operationId !== undefined);
  return {
    topic: "volumes",
    type,
    resource: volumeResource(groupName, name),
    host,
    operationId: isOurs ? operationId : undefined,
    services,
    payload: {
      volume: {
        name,
        volumeGroup: groupName,
        deviceClass: deviceClassOf(placed, deviceClasses) ?? "",
        sizeBytes,
        ...(type === "volume.resized" ? { previousSizeBytes: before?.sizeBytes } : {}),
        tags,
        outside: !isOurs,
        changes,
      },
    },
  };
}

/** Creates the event for a group or pool. A thin pool is named with its group, such as `vg1/pool0`. */
export function volumeGroupEvent(difference: GroupDifference, { host }: EventOrigin): NewEvent {
  const { type, volumeGroup, thinPool, deviceClasses, freeBytes, sizeBytes, isMetadata } = difference;
  const name = thinPool === undefined ? volumeGroup : `${volumeGroup}/${thinPool}`;
  return {
    topic: "volumes",
    type,
    resource:
      thinPool === undefined ? volumeGroupResource(volumeGroup) : volumeResource(volumeGroup, thinPool),
    host,
    services,
    payload: {
      volumeGroup: {
        name,
        deviceClasses,
        freeBytes,
        sizeBytes,
        ...(isMetadata === true ? { isMetadata } : {}),
      },
    },
  };
}
