import type { SlotRecord } from "./records.ts";

/**
 * Reports whether a machine was adopted and, as far as the store knows, is not a node yet. All other slots are `wanted` before
 * they are `booted`. Adoption means that a user asked to keep the machine.
 */
export function isAdopted({ state, createdAtMs, stateSinceMs }: SlotRecord): boolean {
  return state === "booted" && createdAtMs === stateSinceMs;
}
