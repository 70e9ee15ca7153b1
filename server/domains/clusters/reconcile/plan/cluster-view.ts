import type { MaasMachine } from "../../../../../adapters/maas/machine.ts";
import type { WorkloadNode } from "../../../../../adapters/workload/adapter.ts";
import type { OfferedImages } from "../../specs/cluster-images.ts";
import type { SlotRecord } from "../../store/records.ts";

/** Snapshot of the external systems in a pass. What could not be read counts neither as present nor as absent. */
export interface ClusterView {
  /** Time of the store's clock. */
  readonly nowMs: number;
  /** The machines of the gateway's account by system_id, or why they cannot be read. */
  readonly machines: ReadonlyMap<string, MaasMachine> | { readonly unreadable: string };
  /** Undefined when no machine of the cluster has booted yet. */
  readonly api:
    | { readonly isReachable: true; readonly nodes: ReadonlyMap<string, WorkloadNode> }
    | {
        readonly isReachable: false;
        readonly why: string;
        /** How long the API has been unreachable, as far as this gateway knows. */
        readonly forMs: number;
      }
    | undefined;
  /** Undefined when MAAS cannot be read. */
  readonly images: OfferedImages | undefined;
}

/** Returns the present or future node name of a machine: its hostname in lowercase. Undefined until the hostname is known. */
export function nodeNameOf(slot: Pick<SlotRecord, "hostname">): string | undefined {
  return slot.hostname?.toLowerCase();
}

/** Returns the node of a machine; undefined when there is none, or when nodes cannot be read. */
export function nodeOf(slot: Pick<SlotRecord, "hostname">, view: ClusterView): WorkloadNode | undefined {
  const name = nodeNameOf(slot);
  return name !== undefined && view.api?.isReachable === true ? view.api.nodes.get(name) : undefined;
}

/** Returns the machine of a slot; undefined when the account has no such machine, or when machines cannot be read. */
export function machineOf(
  slot: Pick<SlotRecord, "systemId" | "candidateId">,
  view: ClusterView,
): MaasMachine | undefined {
  const id = slot.systemId ?? slot.candidateId;
  return id === undefined || "unreadable" in view.machines ? undefined : view.machines.get(id);
}

/** Returns whether the node of a machine is ready; `unseen` when the cluster cannot be read. */
export function readinessOf(
  slot: Pick<SlotRecord, "hostname">,
  view: ClusterView,
): "ready" | "notReady" | "unseen" {
  if (view.api?.isReachable !== true || slot.hostname === undefined) {
    return "unseen";
  }
  return nodeOf(slot, view)?.isReady === true ? "ready" : "notReady";
}

/** Reports whether a machine serves its cluster: it has joined, and its node is ready. */
export function isServing(slot: SlotRecord, view: ClusterView): boolean {
  return slot.state === "joined" && readinessOf(slot, view) === "ready";
}
