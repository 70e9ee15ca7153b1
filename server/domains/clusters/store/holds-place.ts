import type { SlotState } from "./records.ts";

/**
 * Reports whether a machine keeps its place, so that an adopted machine cannot take it. A pool machine that is still being
 * installed can be released without loss; a control-plane machine may already be a member of etcd.
 */
export function holdsPlace({
  pool,
  state,
}: {
  /** Null or undefined: the control plane. */
  readonly pool: string | null | undefined;
  readonly state: SlotState;
}): boolean {
  return state === "booted" || state === "joined" || (state === "deploying" && typeof pool !== "string");
}
