import { appendEvents, type NewEvent } from "../../../events/store/events.ts";
import type { TransactionContext } from "../../../store/transaction.ts";
import type { ClusterStatusName, SlotRow } from "./records.ts";

/** Event topic of clusters; also the notification topic of their commits. */
const topic = "clusters";
const services = ["cnct.kaas.api.Cluster", "hostplane.v1.ClusterService"];

/** State of a cluster after a change, as reported in an event. */
export interface ClusterEventDetail {
  readonly name: string;
  readonly status: string;
  readonly message: string;
  readonly generation: number;
  /** Undefined: the cluster was created. */
  readonly previousStatus?: string;
}

/** Appends an event about a cluster, within the transaction. */
export async function publishClusterEvent(
  context: TransactionContext,
  what: "created" | "changed" | "status" | "removed",
  { name, status, message, generation, previousStatus }: ClusterEventDetail,
): Promise<void> {
  const detail = {
    name,
    status: status.toUpperCase(),
    statusMessage: message,
    previousStatus: previousStatus?.toUpperCase() ?? "",
    generation: String(generation),
  };
  const type = `kubernetesCluster.${what}`;
  const resource = `clusters/${name}`;
  await appendEvents(context, [
    { topic, type, resource, host: "", services, payload: { kubernetesCluster: detail } },
  ]);
}

/** Appends an event for each machine that changed its state. */
export async function publishMachineEvents(
  context: TransactionContext,
  slots: readonly PublishedSlot[],
): Promise<void> {
  const events = slots.map(
    ({ uid, cluster, pool, state, system_id, message }): NewEvent => ({
      topic,
      type: "kubernetesMachine.changed",
      resource: `clusters/${cluster}/machines/${uid}`,
      host: "",
      services,
      payload: {
        kubernetesMachine: {
          id: uid,
          cluster,
          pool: pool ?? "",
          state,
          systemId: system_id ?? "",
          message,
        },
      },
    }),
  );
  await appendEvents(context, events);
}

type PublishedSlot = Pick<SlotRow, "uid" | "cluster" | "pool" | "state" | "system_id" | "message">;

/** Returns the status of a cluster right after a change to its spec. */
export function statusOnChange(isDeleting: boolean, hasRun: boolean): ClusterStatusName {
  if (isDeleting) {
    return "stopping";
  }
  return hasRun ? "reconciling" : "provisioning";
}
