import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { apiHostOf } from "../addresses/api-host.ts";
import type { ClusterRecord, SlotRecord } from "../store/records.ts";
import type { PassSecrets } from "./pass-secrets.ts";
import type { ClusterView } from "./plan/cluster-view.ts";
import type { ReconcileTools } from "./reconcile-tools.ts";

/** Reads the state of MAAS and of the cluster. What cannot be read is marked as such in the view and is not an error. */
export async function readView(
  tools: ReconcileTools,
  cluster: ClusterRecord,
  slots: readonly SlotRecord[],
  secrets: PassSecrets,
  nowMs: number,
): Promise<ClusterView> {
  const [machines, api, images] = await Promise.all([
    readMachines(tools, isCalm(cluster, slots) ? tools.settings.watchMs / 2 : 0),
    readApi(tools, cluster, slots, secrets),
    cluster.isDeleting ? undefined : tools.images.read().catch(() => undefined),
  ]);
  return { nowMs, machines, api, images };
}

/** Reports whether the cluster was stable in its last pass: then a list of machines read for another cluster is recent enough. */
function isCalm(
  { status, isDeleting, generation, settledGeneration }: ClusterRecord,
  slots: readonly SlotRecord[],
): boolean {
  const isInPlace = status === "running" && !isDeleting && generation === settledGeneration;
  return isInPlace && slots.every(({ state }) => state === "joined");
}

async function readMachines(tools: ReconcileTools, maxAgeMs: number): Promise<ClusterView["machines"]> {
  try {
    return await tools.machines(maxAgeMs);
  } catch (error) {
    // Whatever the error was, the account may have changed by the next call.
    tools.forgetAccount();
    return { unreadable: messageOf(error) };
  }
}

async function readApi(
  { connections }: ReconcileTools,
  cluster: ClusterRecord,
  slots: readonly SlotRecord[],
  secrets: PassSecrets,
): Promise<ClusterView["api"]> {
  const hasBooted = slots.some(
    ({ pool, state }) => pool === undefined && ["booted", "joined", "draining"].includes(state),
  );
  if (cluster.isDeleting || (!hasBooted && !cluster.hasRun)) {
    return undefined;
  }
  const host = apiHostOf(cluster, slots);
  if (host === undefined) {
    const forMs = connections.noteAnswer(cluster.uid, false);
    return { isReachable: false, why: "no machine of its control plane is left", forMs };
  }
  try {
    const nodes = await secrets.connect(host).nodes();
    connections.noteAnswer(cluster.uid, true);
    return { isReachable: true, nodes: new Map(nodes.map((node) => [node.name, node])) };
  } catch (error) {
    return { isReachable: false, why: messageOf(error), forMs: connections.noteAnswer(cluster.uid, false) };
  }
}

function messageOf(error: unknown): string {
  return error instanceof InfraError ? error.message : "internal error of the gateway";
}
