import type { LogicalVolume } from "../../../../adapters/lvm/adapter.ts";
import type { ResourceHealth } from "../../../domain/inventory-source.ts";

const healthByFault: Readonly<Record<LogicalVolume["health"], ResourceHealth>> = {
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

/** Returns what the state of a volume means. */
export function healthOf({ health }: Pick<LogicalVolume, "health">): ResourceHealth {
  return healthByFault[health];
}

/** Returns the state of a volume in LVM's terms: whether it is active, or its fault. */
export function stateOf({ health, active }: Pick<LogicalVolume, "health" | "active">): string {
  return health === "ok" ? (active ? "active" : "inactive") : health;
}
