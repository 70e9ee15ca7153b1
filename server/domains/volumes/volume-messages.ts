import type { MessageInitShape } from "@bufbuild/protobuf";
import type { LogicalVolume, LvmState } from "../../../adapters/lvm/adapter.ts";
import type {
  LogicalVolumeSchema,
  ThinPoolItemSchema,
  WatchItemSchema,
  WatchResponseSchema,
} from "../../../gen/lvmd/served/lvmd_pb.ts";
import type { LvmdProtocol } from "../../rpc/call/call.ts";
import { type DeviceClass, reportedFreeBytes, resolveClass } from "./device-class.ts";
import { sizeGbFromBytes } from "./size.ts";

/** The fields of a volume that responses contain. */
export type ShownVolume = Pick<
  LogicalVolume,
  "volumeGroupName" | "name" | "sizeBytes" | "device" | "tags" | "attributes"
>;

/** Builds the message for a volume, the same in both lvmd protocols. An inactive volume has the device numbers 0. */
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
 * Builds the full state as Watch sends it: one item for each class whose volume group or thin pool exists, in LVM's order of
 * volume groups, and the free space of the default class (0 while its store is missing). For a thin class, `free_bytes` of
 * the current protocol is the free space of the volume group; the pool's is in `thin_pool.overprovision_bytes`.
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
