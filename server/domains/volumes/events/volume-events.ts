import { volumeGroupResource, volumeResource } from "../../../../adapters/lvm/names.ts";
import { operationOf } from "../../../backups/lvm/operation-marks.ts";
import type { NewEvent } from "../../../store/events.ts";
import type { DeviceClass } from "../device-class.ts";
import type { GroupDifference } from "./group-differences.ts";
import type { ObservedVolume } from "./observed-volumes.ts";
import type { OwnChange } from "./own-changes.ts";
import type { VolumeDifference } from "./volume-differences.ts";

/** Of what all events of volumes are. */
export interface EventOrigin {
  readonly host: string;
  readonly deviceClasses: readonly DeviceClass[];
}

/** Who may call one of these learns of volumes by them already. */
export const services = ["proto.LVService", "proto.VGService", "hostplane.v1.BackupService"];

// Payloads are the JSON of hostplane.v1.Event with its detail alone.

/** @param own what this gateway did that the difference comes of; undefined: somebody else did it */
export function volumeEvent(
  difference: VolumeDifference,
  own: OwnChange | undefined,
  { host, deviceClasses }: EventOrigin,
): NewEvent {
  const { type, volume, before, changes } = difference;
  const { name, groupName, sizeBytes, tags } = volume;
  const operationId = operationOf(volume) ?? (before === undefined ? undefined : operationOf(before));
  // What carries the tag of an operation when it is first seen was made by one, though perhaps by a gateway that died.
  const isOurs = own !== undefined || (type === "volume.created" && operationId !== undefined);
  return {
    topic: "volumes",
    type,
    resource: volumeResource(groupName, name),
    host,
    ...(operationId === undefined || !isOurs ? {} : { operationId }),
    services,
    payload: {
      volume: {
        name,
        volumeGroup: groupName,
        deviceClass: classNameOf(volume, deviceClasses),
        sizeBytes,
        ...(type === "volume.resized" ? { previousSizeBytes: before?.sizeBytes } : {}),
        tags,
        outside: !isOurs,
        changes,
      },
    },
  };
}

/** A thin pool is told by its name in its group, `vg1/pool0`. */
export function volumeGroupEvent(difference: GroupDifference, { host }: EventOrigin): NewEvent {
  const { type, volumeGroup, thinPool, deviceClasses, freeBytes, sizeBytes } = difference;
  const name = thinPool === undefined ? volumeGroup : `${volumeGroup}/${thinPool}`;
  return {
    topic: "volumes",
    type,
    resource:
      thinPool === undefined ? volumeGroupResource(volumeGroup) : volumeResource(volumeGroup, thinPool),
    host,
    services,
    payload: { volumeGroup: { name, deviceClasses, freeBytes, sizeBytes } },
  };
}

/** The class whose thin pool the volume is in, or else the thick class of its group; a pool itself belongs to none. */
function classNameOf(volume: ObservedVolume, deviceClasses: readonly DeviceClass[]): string {
  const ofGroup = deviceClasses.filter(({ volumeGroup }) => volumeGroup === volume.groupName);
  const thin = ofGroup.find(
    ({ thinPool }) => thinPool !== undefined && thinPool === (volume.thinPoolName ?? undefined),
  );
  const thick = ofGroup.find(({ thinPool }) => thinPool === undefined);
  return volume.kind === "thinPool" ? "" : ((thin ?? thick)?.name ?? "");
}
