import type { LogicalVolume, LvmAdapter, LvmState, VolumeGroup } from "../../../../adapters/lvm/adapter.ts";
import { volumeGroupResource, volumeResource } from "../../../../adapters/lvm/names.ts";
import {
  bytes,
  createResourceCache,
  type InventorySource,
  percent,
  type Resource,
  type ResourceHealth,
} from "../../../domain/inventory-source.ts";
import { type DeviceClass, resolveClass, volumesOf } from "../device-class.ts";
import { volumeResourceTypes } from "./resource-types.ts";

const healthOf: Readonly<Record<LogicalVolume["health"], ResourceHealth>> = {
  ok: "ok",
  partial: "degraded",
  refreshNeeded: "degraded",
  mismatchesExist: "degraded",
  suspended: "degraded",
  failed: "failed",
  outOfDataSpace: "failed",
  metadataReadOnly: "failed",
  invalidSnapshot: "failed",
  unknown: "unknown",
};

/** The volume groups of the device classes, with their volumes and thin pools. */
export function createVolumeResources(
  lvm: Pick<LvmAdapter, "read" | "subscribe">,
  deviceClasses: readonly DeviceClass[],
): InventorySource {
  const groups = new Set(deviceClasses.map(({ volumeGroup }) => volumeGroup));
  const resourcesOf = createResourceCache((state: LvmState) => {
    const classOf = classesOf(deviceClasses, state);
    return [
      ...state.volumeGroups.filter(({ name }) => groups.has(name)).map(groupResource),
      ...state.volumes
        .filter(({ volumeGroupName }) => groups.has(volumeGroupName))
        .map((volume) => logicalVolumeResource(volume, classOf.get(volume))),
    ];
  });
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

/** The class by which calls address each volume. */
function classesOf(
  deviceClasses: readonly DeviceClass[],
  state: LvmState,
): ReadonlyMap<LogicalVolume, string> {
  return new Map(
    deviceClasses.flatMap((deviceClass) => {
      const resolved = resolveClass(deviceClass, state);
      return resolved === undefined
        ? []
        : volumesOf(resolved, state).map((volume) => [volume, deviceClass.name] as const);
    }),
  );
}

function logicalVolumeResource(volume: LogicalVolume, deviceClass: string | undefined): Resource {
  const { name, volumeGroupName, kind, health, active, sizeBytes, dataPercent, tags, device } = volume;
  const { thinPoolName, originName } = volume;
  return {
    name: volumeResource(volumeGroupName, name),
    type: kind === "thinPool" ? "thinPool" : "volume",
    title: name,
    state: health === "ok" ? (active ? "active" : "inactive") : health,
    health: healthOf[health],
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
