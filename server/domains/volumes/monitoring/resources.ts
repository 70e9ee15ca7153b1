import { oncePerObject } from "../../../../adapters/host/once-per-object.ts";
import type { LogicalVolume, LvmAdapter, LvmState, VolumeGroup } from "../../../../adapters/lvm/adapter.ts";
import { volumeGroupResource, volumeResource } from "../../../../adapters/lvm/names.ts";
import { bytes, type InventorySource, percent, type Resource } from "../../../domain/inventory-source.ts";
import { type DeviceClass, deviceClassOf } from "../device-class.ts";
import { volumeResourceTypes } from "./resource-types.ts";
import { healthOf, stateOf } from "./volume-state.ts";

/** The volume groups of the device classes, with their volumes and thin pools. */
export function createVolumeResources(
  lvm: Pick<LvmAdapter, "read" | "subscribe">,
  deviceClasses: readonly DeviceClass[],
): InventorySource {
  const groups = new Set(deviceClasses.map(({ volumeGroup }) => volumeGroup));
  const resourcesOf = oncePerObject((state: LvmState) => [
    ...state.volumeGroups.filter(({ name }) => groups.has(name)).map(groupResource),
    ...state.volumes
      .filter(({ volumeGroupName }) => groups.has(volumeGroupName))
      .map((volume) => logicalVolumeResource(volume, deviceClassOf(volume, deviceClasses))),
  ]);
  return {
    ...volumeResourceTypes,
    async read(signal) {
      const { value, readAtMs } = await lvm.read(signal);
      return { resources: resourcesOf(value), readAtMs };
    },
    subscribe: (onChange) => lvm.subscribe(onChange),
  };
}

function groupResource({ name, sizeBytes, freeBytes, missingPvCount }: VolumeGroup): Resource {
  return {
    name: volumeGroupResource(name),
    type: "volumeGroup",
    title: name,
    state: missingPvCount === 0 ? "ok" : "partial",
    health: missingPvCount === 0 ? "ok" : "degraded",
    figures: [bytes("size", sizeBytes), bytes("free", freeBytes)],
    labels: {},
  };
}

function logicalVolumeResource(volume: LogicalVolume, deviceClass: string | undefined): Resource {
  const { name, volumeGroupName, kind, sizeBytes, dataPercent, tags, device } = volume;
  const { thinPoolName, originName } = volume;
  return {
    name: volumeResource(volumeGroupName, name),
    type: kind === "thinPool" ? "thinPool" : "volume",
    title: name,
    state: stateOf(volume),
    health: healthOf(volume),
    figures: [
      bytes("size", sizeBytes),
      ...(dataPercent === undefined ? [] : [percent("data_used", dataPercent)]),
    ],
    labels: Object.fromEntries(tags.map(labelFromTag)),
    properties: {
      volume_group: volumeGroupName,
      ...(deviceClass === undefined ? {} : { device_class: deviceClass }),
      ...(device === undefined ? {} : { device: `${device.major}:${device.minor}` }),
      ...(thinPoolName === undefined ? {} : { thin_pool: thinPoolName }),
      ...(originName === undefined ? {} : { origin: originName }),
    },
  };
}

/** LVM's tags are words; `team=a` is a common way to write a label. */
function labelFromTag(tag: string): readonly [string, string] {
  const end = tag.indexOf("=");
  return end === -1 ? [tag, ""] : [tag.slice(0, end), tag.slice(end + 1)];
}
