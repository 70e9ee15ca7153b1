import type { MessageInitShape } from "@bufbuild/protobuf";
import type { LogicalVolume, LvmState } from "../../../adapters/lvm/adapter.ts";
import type { LogicalVolumeSchema, WatchResponseSchema } from "../../../gen/proto/lvmd_pb.ts";
import { type DeviceClass, reportedFreeBytes, resolveClass } from "./device-class.ts";
import { sizeGbFromBytes } from "./size.ts";

/** A volume as the contract shows it; the device numbers of an inactive one are 0. */
export function volumeMessage(
  volume: Pick<LogicalVolume, "name" | "sizeBytes" | "device" | "tags">,
): MessageInitShape<typeof LogicalVolumeSchema> {
  return {
    name: volume.name,
    sizeGb: sizeGbFromBytes(volume.sizeBytes),
    devMajor: volume.device?.major ?? 0,
    devMinor: volume.device?.minor ?? 0,
    tags: [...volume.tags],
  };
}

/**
 * The full state as Watch sends it: one item for each class whose store is there, in LVM's order of volume
 * groups, and the default class's free space on top (0 while its store is gone).
 */
export function watchMessage(
  classes: readonly DeviceClass[],
  state: LvmState,
): MessageInitShape<typeof WatchResponseSchema> {
  let defaultFreeBytes = 0n;
  const items: { deviceClass: string; freeBytes: bigint }[] = [];
  for (const group of state.volumeGroups) {
    for (const deviceClass of classes) {
      const resolved = deviceClass.volumeGroup === group.name ? resolveClass(deviceClass, state) : undefined;
      if (resolved === undefined) {
        continue;
      }
      const freeBytes = reportedFreeBytes(resolved, state);
      items.push({ deviceClass: deviceClass.name, freeBytes });
      if (deviceClass.default) {
        defaultFreeBytes = freeBytes;
      }
    }
  }
  return { freeBytes: defaultFreeBytes, items };
}
