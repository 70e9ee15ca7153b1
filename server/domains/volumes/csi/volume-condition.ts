import type { MessageInitShape } from "@bufbuild/protobuf";
import type { LogicalVolume, LvmState } from "../../../../adapters/lvm/adapter.ts";
import type { VolumeConditionSchema } from "../../../../gen/csi/v1/csi_pb.ts";
import { healthOf, stateOf } from "../monitoring/volume-state.ts";
import { type CsiVolume, csiIdOf } from "./csi-volume.ts";

type Condition = MessageInitShape<typeof VolumeConditionSchema>;

/** Returns the condition of a volume. */
export type ConditionOf = (found: Pick<CsiVolume, "id" | "volume">) => Condition;

/**
 * Returns a function for the conditions of volumes, by the health that LVM reports for them and for their thin pools: a volume whose
 * pool is full or failed cannot be written, but has no fault of its own.
 */
export function conditionsIn(state: LvmState): ConditionOf {
  const pools = new Map(
    state.volumes.filter(({ kind }) => kind === "thinPool").map((pool) => [csiIdOf(pool), pool]),
  );
  return ({ id, volume }) => {
    if (healthOf(volume) !== "ok") {
      return { abnormal: true, message: `volume ${id} is ${stateOf(volume)}` };
    }
    const { volumeGroupName, thinPoolName: name } = volume;
    const pool = name === undefined ? undefined : pools.get(csiIdOf({ volumeGroupName, name }));
    const fault = pool && faultOf(pool);
    return fault === undefined
      ? { abnormal: false, message: "the volume is healthy" }
      : { abnormal: true, message: `the thin pool ${volumeGroupName}/${name} of volume ${id} is ${fault}` };
  };
}

function faultOf(pool: LogicalVolume): string | undefined {
  const { dataPercent = 0 } = pool;
  return healthOf(pool) === "ok" ? (dataPercent >= 100 ? "full" : undefined) : stateOf(pool);
}
