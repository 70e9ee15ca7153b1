import type { SlotState } from "./cluster-records.ts";

/**
 * Whether a machine has its place for good, so that one that is adopted cannot have it. One of a pool that is only being installed goes
 * without a loss; one of the control plane may be a member of etcd by then.
 */
export function holdsPlace({
  pool,
  state,
}: {
  /** Neither: of the control plane. */
  readonly pool: string | null | undefined;
  readonly state: SlotState;
}): boolean {
  return state === "booted" || state === "joined" || (state === "deploying" && typeof pool !== "string");
}
