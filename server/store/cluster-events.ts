import type { ClusterStatusName, SlotRow } from "./cluster-records.ts";
import { appendEvents, type NewEvent } from "./events.ts";
import type { TransactionContext } from "./transaction.ts";

/** What clusters tell, which is the topic of their commits too. */
const topic = "clusters";
const services = ["cnct.kaas.api.Cluster", "hostplane.v1.ClusterService"];

/** How a cluster is after a change. */
export interface ToldCluster {
  readonly name: string;
  readonly status: string;
  readonly message: string;
  readonly generation: number;
  /** Undefined: it was created. */
  readonly previousStatus?: string;
}

/** Writes down, within the transaction, what has become of a cluster. */
export async function tellCluster(
  context: TransactionContext,
  what: "created" | "changed" | "status" | "removed",
  { name, status, message, generation, previousStatus }: ToldCluster,
): Promise<void> {
  const told = {
    name,
    status: status.toUpperCase(),
    statusMessage: message,
    previousStatus: previousStatus?.toUpperCase() ?? "",
    generation: String(generation),
  };
  const type = `kubernetesCluster.${what}`;
  const resource = `clusters/${name}`;
  await appendEvents(context, [
    { topic, type, resource, host: "", services, payload: { kubernetesCluster: told } },
  ]);
}

/** The same of machines that have come into another state. */
export async function tellMachines(context: TransactionContext, slots: readonly ToldSlot[]): Promise<void> {
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

type ToldSlot = Pick<SlotRow, "uid" | "cluster" | "pool" | "state" | "system_id" | "message">;

/** What a cluster is from the moment on in which something else is wanted of it. */
export function statusOnChange(isDeleting: boolean, hasRun: boolean): ClusterStatusName {
  if (isDeleting) {
    return "stopping";
  }
  return hasRun ? "reconciling" : "provisioning";
}
