import { isAdopted } from "../../store/is-adopted.ts";
import type { SlotRecord } from "../../store/records.ts";
import { makesCluster } from "../machines/first-machine.ts";
import { goneMachine } from "../machines/gone-machine.ts";
import { isLeavingMaas } from "../machines/own-machine.ts";
import type { Pass } from "../pass.ts";
import { nodeOf } from "../plan/cluster-view.ts";
import { reportedFailure } from "../reported-failure.ts";
import { failed, leaving, movedTo, type StepEnd, waiting } from "../step.ts";

/** Handles the state `booted`: waits until the machine is a ready node. */
export async function joinNode(pass: Pass, slot: SlotRecord): Promise<StepEnd> {
  const own = await pass.inspect(slot);
  if (own.is === "gone") {
    return goneMachine(pass, slot, own);
  }
  const { machine } = own;
  if (isLeavingMaas(machine)) {
    return leaving("it is being released in MAAS");
  }
  const name = slot.hostname ?? machine.hostname;
  const [ipAddress] = machine.ipAddresses;
  const address = ipAddress === undefined ? {} : { ipAddress };
  // Checked before the node's state, since a partly configured machine may be a ready node. An adopted machine is kept.
  const failure = isAdopted(slot) ? undefined : await reportedFailure(pass, machine);
  if (failure !== undefined) {
    return failed(`${name} failed to become a node: ${failure}`);
  }
  const node = nodeOf(slot, pass.view);
  if (node?.isReady === true) {
    return movedTo("joined", { ...address, history: { message: `${name} is a node of the cluster` } });
  }
  const { api } = pass.view;
  const isFirst = makesCluster(pass.cluster, pass.slots.all(), slot);
  // While the cluster does not respond, nothing is known about joining machines; only for the first machine is that its own
  // failure. An adopted machine is not released automatically.
  const isOverdue = !isAdopted(slot) && pass.nowMs() - slot.stateSinceMs > pass.tools.settings.joinTimeoutMs;
  if (isOverdue && (api?.isReachable === true || isFirst)) {
    const minutes = Math.ceil(pass.tools.settings.joinTimeoutMs / 60_000);
    return failed(`${name} did not join the cluster within ${minutes} minutes`);
  }
  const why = node === undefined || node.readyMessage === "" ? "" : `: ${node.readyMessage}`;
  const message = node === undefined ? `${name} is joining the cluster` : `${name} is not ready yet${why}`;
  return { ...waiting(message), ...address };
}
