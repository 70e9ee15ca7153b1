import type { MessageInitShape } from "@bufbuild/protobuf";
import type { LvmState } from "../../../../adapters/lvm/adapter.ts";
import { volumeResource } from "../../../../adapters/lvm/names.ts";
import type { ThinPoolSchema } from "../../../../gen/hostplane/v1/volume_pb.ts";
import { healthMessages } from "../../../domain/health-messages.ts";
import type { DeviceClass } from "../device-class.ts";
import { healthOf, stateOf } from "../monitoring/volume-state.ts";
import { compareNames } from "./volume-list.ts";

/** Returns the thin pools in the groups of the device classes, ordered by group and name. */
export function listThinPools(state: LvmState, deviceClasses: readonly DeviceClass[]) {
  const groups = new Set(deviceClasses.map(({ volumeGroup }) => volumeGroup));
  const volumesByPool = Map.groupBy(state.volumes, (one) => `${one.volumeGroupName}/${one.thinPoolName}`);
  return state.volumes
    .filter(({ volumeGroupName, kind }) => groups.has(volumeGroupName) && kind === "thinPool")
    .map((pool) => {
      const { name, volumeGroupName: volumeGroup, dataPercent, metadataPercent } = pool;
      const volumes = volumesByPool.get(`${volumeGroup}/${name}`) ?? [];
      return {
        name,
        volumeGroup,
        deviceClasses: deviceClasses
          .filter((one) => one.volumeGroup === volumeGroup && one.thinPool === name)
          .map((one) => one.name),
        resource: volumeResource(volumeGroup, name),
        uuid: pool.uuid,
        sizeBytes: pool.sizeBytes,
        metadataSizeBytes: pool.metadataSizeBytes ?? 0n,
        ...(dataPercent === undefined ? {} : { dataPercent }),
        ...(metadataPercent === undefined ? {} : { metadataPercent }),
        volumeCount: volumes.length,
        provisionedBytes: volumes.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0n),
        active: pool.active,
        physicalVolumes: [...pool.devicePaths],
        tags: [...pool.tags],
        health: healthMessages[healthOf(pool)],
        state: stateOf(pool),
      } satisfies MessageInitShape<typeof ThinPoolSchema>;
    })
    .sort(compareNames);
}
