import type { MessageInitShape } from "@bufbuild/protobuf";
import type { LogicalVolume, LvmState } from "../../../adapters/lvm/adapter.ts";
import type {
  LogicalVolumeSchema,
  ThinPoolItemSchema,
  WatchItemSchema,
  WatchResponseSchema,
} from "../../../gen/lvmd/served/lvmd_pb.ts";
import type { LvmdProtocol } from "../../rpc/call.ts";
import { type DeviceClass, reportedFreeBytes, resolveClass } from "./device-class.ts";
import { sizeGbFromBytes } from "./size.ts";

/** A volume as an answer shows it. */
export type ShownVolume = Pick<
  LogicalVolume,
  "volumeGroupName" | "name" | "sizeBytes" | "device" | "tags" | "attributes"
>;

/** A volume as both lvmd protocols show it; the device numbers of an inactive one are 0. */
export function volumeMessage(volume: ShownVolume): MessageInitShape<typeof LogicalVolumeSchema> {
  return {
    name: volume.name,
    sizeGb: sizeGbFromBytes(volume.sizeBytes),
    devMajor: volume.device?.major ?? 0,
    devMinor: volume.device?.minor ?? 0,
    tags: [...volume.tags],
    sizeBytes: volume.sizeBytes,
    path: `/dev/${volume.volumeGroupName}/${volume.name}`,
    attr: volume.attributes,
  };
}

/**
 * The full state as Watch sends it: one item for each class whose store is there, in LVM's order of volume
 * groups, and the default class's free space on top (0 while its store is gone). Today's protocol has the free space of the
 * volume group in the item of a thin class, and that of the pool beside it.
 */
export function watchMessage(
  classes: readonly DeviceClass[],
  state: LvmState,
  protocol: LvmdProtocol,
): MessageInitShape<typeof WatchResponseSchema> {
  let defaultFreeBytes = 0n;
  const items: MessageInitShape<typeof WatchItemSchema>[] = [];
  for (const group of state.volumeGroups) {
    for (const deviceClass of classes) {
      const resolved = deviceClass.volumeGroup === group.name ? resolveClass(deviceClass, state) : undefined;
      if (resolved === undefined) {
        continue;
      }
      const freeBytes = reportedFreeBytes(resolved, state);
      const { pool } = resolved;
      items.push({
        deviceClass: deviceClass.name,
        freeBytes: pool !== undefined && protocol === "current" ? group.freeBytes : freeBytes,
        sizeBytes: group.sizeBytes,
        ...(pool === undefined ? {} : { thinPool: thinPoolMessage(pool, freeBytes) }),
      });
      if (deviceClass.default) {
        defaultFreeBytes = freeBytes;
      }
    }
  }
  return { freeBytes: defaultFreeBytes, items };
}

function thinPoolMessage(
  { dataPercent = 0, metadataPercent = 0, sizeBytes }: LogicalVolume,
  overprovisionBytes: bigint,
): MessageInitShape<typeof ThinPoolItemSchema> {
  return { dataPercent, metadataPercent, overprovisionBytes, sizeBytes };
}
