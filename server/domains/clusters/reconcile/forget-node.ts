import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { SlotRecord } from "../../../store/cluster-records.ts";
import { isLeavingMaas } from "./own-machine.ts";
import type { Pass } from "./pass.ts";
import { nodeNameOf } from "./plan/cluster-view.ts";
import { machineFailed } from "./step.ts";
import { etcdAccessOf } from "./workload-connections.ts";

/** After so many failures a worker goes though its cluster does not answer: some minutes. */
const patience = 8;

/**
 * Has the cluster forget a machine: its etcd, if it is of the control plane, and its node. Nothing is to be forgotten where the whole
 * cluster goes, or where no machine is left that could have the cluster's data.
 * @returns what is left there, as the end of a sentence; empty when nothing
 * @throws InfraError while it cannot be done: always for the etcd, as without that the others lose their majority; for a node alone only
 *   at first
 */
export async function forgetNode(pass: Pass, slot: SlotRecord): Promise<string> {
  const name = nodeNameOf(slot);
  if (pass.cluster.isDeleting || name === undefined) {
    return "";
  }
  const members = await membersBeside(pass, slot);
  if (members.length === 0) {
    return "";
  }
  const api = pass.api();
  if (api === undefined) {
    return "";
  }
  if (slot.pool === undefined) {
    const etcd = await etcdAccessOf(pass.secrets().pki, members);
    if (etcd.addresses.length === 0) {
      throw new InfraError(
        "WORKLOAD_UNAVAILABLE",
        "MAAS tells no address of another machine of the control plane",
      );
    }
    await pass.change("workload.removeEtcdMember", () => api.removeEtcdMember(name, etcd));
  }
  try {
    await pass.change("workload.deleteNode", () => api.deleteNode(name));
    return "";
  } catch (error) {
    const wasSilent = slot.reason === machineFailed || slot.reason.startsWith("WORKLOAD_");
    const isOver = slot.pool !== undefined && wasSilent && slot.attempts >= patience;
    if (!(error instanceof InfraError) || !isOver || !pass.lease.isHeld()) {
      throw error;
    }
    return `; its node is left in the cluster, which does not answer: ${error.message}`;
  }
}

/**
 * The other machines of the control plane whose etcd may run. That a list of MAAS lacks one proves nothing: each that is missing is asked
 * for.
 */
async function membersBeside(pass: Pass, slot: SlotRecord): Promise<readonly SlotRecord[]> {
  const others = pass.slots
    .all()
    .filter(
      ({ uid, pool, state }) =>
        uid !== slot.uid && pool === undefined && ["booted", "joined", "draining"].includes(state),
    );
  const owned = await Promise.all(others.map((other) => pass.look(other)));
  return others.filter((_, index) => {
    const own = owned[index];
    return own?.is === "ours" && !isLeavingMaas(own.machine);
  });
}
