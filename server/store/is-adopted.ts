import type { SlotRecord } from "./cluster-records.ts";

/**
 * Whether a machine was adopted, and is no node yet as far as the store knows: all others were wanted before they booted. Somebody
 * has asked that it be kept.
 */
export function isAdopted({ state, createdAtMs, stateSinceMs }: SlotRecord): boolean {
  return state === "booted" && createdAtMs === stateSinceMs;
}
