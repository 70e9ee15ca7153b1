import type { MaasMachine } from "../../../../../adapters/maas/machine.ts";
import type { WorkloadNode } from "../../../../../adapters/workload/adapter.ts";
import type { SlotRecord } from "../../../../store/cluster-records.ts";
import type { OfferedImages } from "../../cluster-images.ts";

/** What a pass has seen of the world. What it could not see counts neither as there nor as gone. */
export interface ClusterView {
  /** By the store's clock. */
  readonly nowMs: number;
  /** Those of the gateway's account by system_id, or why they cannot be read. */
  readonly machines: ReadonlyMap<string, MaasMachine> | { readonly unreadable: string };
  /** Undefined: no machine of the cluster has booted yet. */
  readonly api:
    | { readonly isReachable: true; readonly nodes: ReadonlyMap<string, WorkloadNode> }
    | {
        readonly isReachable: false;
        readonly why: string;
        /** For how long it has been so, as far as this gateway knows. */
        readonly forMs: number;
      }
    | undefined;
  /** Undefined: MAAS cannot be asked. */
  readonly images: OfferedImages | undefined;
}

/** The name that a machine has, or will have, as a node: its hostname in small letters. Undefined as long as it has none. */
export function nodeNameOf(slot: Pick<SlotRecord, "hostname">): string | undefined {
  return slot.hostname?.toLowerCase();
}

/** The node of a machine; undefined when there is none, and when nodes cannot be seen. */
export function nodeOf(slot: Pick<SlotRecord, "hostname">, view: ClusterView): WorkloadNode | undefined {
  const name = nodeNameOf(slot);
  return name !== undefined && view.api?.isReachable === true ? view.api.nodes.get(name) : undefined;
}

/** The machine of a slot; undefined when the account has no such machine, and when machines cannot be read. */
export function machineOf(
  slot: Pick<SlotRecord, "systemId" | "candidateId">,
  view: ClusterView,
): MaasMachine | undefined {
  const id = slot.systemId ?? slot.candidateId;
  return id === undefined || "unreadable" in view.machines ? undefined : view.machines.get(id);
}

/** Whether the node of a machine is ready; `unseen` when the cluster cannot be asked. */
export function readinessOf(
  slot: Pick<SlotRecord, "hostname">,
  view: ClusterView,
): "ready" | "notReady" | "unseen" {
  if (view.api?.isReachable !== true || slot.hostname === undefined) {
    return "unseen";
  }
  return nodeOf(slot, view)?.isReady === true ? "ready" : "notReady";
}

/** Whether a machine serves its cluster: it has joined, and is seen to be ready. */
export function isServing(slot: SlotRecord, view: ClusterView): boolean {
  return slot.state === "joined" && readinessOf(slot, view) === "ready";
}
