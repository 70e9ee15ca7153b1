import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { workloadReasons } from "../../../../../adapters/workload/reasons.ts";
import type { SlotRecord } from "../../store/records.ts";
import { isLeavingMaas } from "../machines/own-machine.ts";
import type { Pass } from "../pass.ts";
import { nodeNameOf } from "../plan/cluster-view.ts";
import { machineFailed } from "../step.ts";
import { etcdAccessOf } from "./workload-connections.ts";

/** Number of failures, some minutes' worth, after which a worker is released even though its cluster does not respond. */
const patience = 8;

/**
 * Removes a machine from its cluster: its etcd member, if it is part of the control plane, and its node. Skipped when the
 * whole cluster is deleted, or when no machine with the cluster's data is left.
 * @returns what could not be removed, as the end of a sentence; empty when nothing is left
 * @throws InfraError while it cannot be done: always for the etcd member, since the others would lose their majority; for a
 *   node only at first
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
        workloadReasons.WORKLOAD_UNAVAILABLE,
        "MAAS reports no address of another control-plane machine",
      );
    }
    await pass.change("workload.removeEtcdMember", () => api.removeEtcdMember(name, etcd));
  }
  try {
    await pass.change("workload.deleteNode", () => api.deleteNode(name));
    return "";
  } catch (error) {
    const wasSilent = slot.reason === machineFailed || Object.hasOwn(workloadReasons, slot.reason);
    const isOver = slot.pool !== undefined && wasSilent && slot.attempts >= patience;
    if (!(error instanceof InfraError) || !isOver || !pass.lease.isHeld()) {
      throw error;
    }
    return `; its node remains in the cluster, which does not respond: ${error.message}`;
  }
}

/**
 * Returns the other control-plane machines whose etcd may be running. A machine missing from a list of MAAS may still exist,
 * so each missing one is read separately.
 */
async function membersBeside(pass: Pass, slot: SlotRecord): Promise<readonly SlotRecord[]> {
  const others = pass.slots
    .all()
    .filter(
      ({ uid, pool, state }) =>
        uid !== slot.uid && pool === undefined && ["booted", "joined", "draining"].includes(state),
    );
  const owned = await Promise.all(others.map((other) => pass.inspect(other)));
  return others.filter((_, index) => {
    const own = owned[index];
    return own?.is === "ours" && !isLeavingMaas(own.machine);
  });
}
