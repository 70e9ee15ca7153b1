import type { StatusKind } from "../../parts/status.tsx";

const shown: Readonly<Record<string, { readonly kind: StatusKind; readonly text: string }>> = {
  PROVISIONING: { kind: "running", text: "creating" },
  RUNNING: { kind: "ok", text: "running" },
  RECONCILING: { kind: "running", text: "updating" },
  STOPPING: { kind: "running", text: "deleting" },
  ERROR: { kind: "failed", text: "error" },
  DEGRADED: { kind: "warn", text: "degraded" },
};

/** Describes a cluster's status, as the inventory has it; the word itself for a status of a newer gateway. */
export function clusterStatus(state: string): { readonly kind: StatusKind; readonly text: string } {
  return shown[state] ?? { kind: "unknown", text: state.toLowerCase() };
}
