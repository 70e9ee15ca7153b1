import { describeSize } from "../../../../adapters/host/describe-size.ts";
import type { PlannedMutation } from "../../../operations/mutation.ts";
import { expandKindName } from "./expand-kind.ts";
import type { PoolRefresh } from "./pool-run.ts";
import { shrinkKindName } from "./shrink-kind.ts";
import type { PlannedPoolChange, StoragePool } from "./storage-pool.ts";

/** Plans an expansion. */
export function planOfExpansion(
  pool: StoragePool,
  change: PlannedPoolChange,
  refresh: PoolRefresh | undefined,
): PlannedMutation {
  const { identity, devices, bytes, steps } = change;
  return {
    kind: expandKindName,
    resource: "storagePool",
    backend: identity,
    plan: { changes: [`${pool.name} grows by ${describeSize(bytes)} on ${devices.join(", ")}`], losses: [] },
    steps: [{ name: "choose", command: [] }, ...steps, ...refreshOf(refresh)],
    pointOfNoReturn: steps.length,
  };
}

/** Plans a shrinkage. */
export function planOfShrinkage(
  pool: StoragePool,
  change: PlannedPoolChange,
  refresh: PoolRefresh | undefined,
): PlannedMutation {
  const { identity, devices, bytes, movedBytes, steps } = change;
  const moved =
    movedBytes === 0n ? "no data has to be moved" : `${describeSize(movedBytes)} of data is moved first`;
  return {
    kind: shrinkKindName,
    resource: "storagePool",
    backend: identity,
    plan: {
      changes: [
        `${pool.name} shrinks by ${describeSize(bytes)}: ${devices.join(", ")} is removed and freed; ${moved}`,
      ],
      losses: [],
    },
    steps: [{ name: "choose", command: [] }, ...steps, ...refreshOf(refresh)],
    pointOfNoReturn: steps.length,
  };
}

function refreshOf(refresh: PoolRefresh | undefined) {
  return refresh === undefined ? [] : [{ name: "refresh", command: refresh.command }];
}
