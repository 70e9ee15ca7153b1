import type { SlotRecord } from "../../store/records.ts";
import { forgetNode } from "../nodes/forget-node.ts";
import type { Pass } from "../pass.ts";
import { nodeOf } from "../plan/cluster-view.ts";
import { isConfigurationError } from "../plan/machine-problem.ts";
import { leaving, movedTo, type StepEnd, waiting } from "../step.ts";
import { forgottenMachine, makesCluster } from "./first-machine.ts";
import { goneMachine } from "./gone-machine.ts";
import { isLeavingMaas } from "./own-machine.ts";

/**
 * Handles the state `annotated`: decides when the machine is installed. The first control-plane machine is installed at once.
 * All others wait until the cluster's API responds, and control-plane machines join one at a time.
 */
export async function beginDeployment(pass: Pass, slot: SlotRecord): Promise<StepEnd> {
  const own = await pass.inspect(slot);
  if (own.is === "gone") {
    return goneMachine(pass, slot, own);
  }
  if (isLeavingMaas(own.machine)) {
    return leaving("it is being released in MAAS");
  }
  try {
    await pass.keepEndpoint();
  } catch (error) {
    if (isConfigurationError(error)) {
      // Other clusters can use the machine until the configuration is fixed.
      return leaving(error.message);
    }
    throw error;
  }
  // The node is registered under the current name, even if the machine is renamed later.
  const { hostname } = own.machine;
  if (hostname !== slot.hostname) {
    await pass.slots.write(slot, { hostname });
    return "again";
  }
  if (slot.pool !== undefined) {
    return joining(pass, slot);
  }
  return pass.controlPlaneTurns.run(async () => {
    const end = await ofControlPlane(pass, slot);
    if (typeof end === "string" || end.state === undefined) {
      return end;
    }
    // Written within the turn, so that the next machine sees it.
    await pass.slots.write(slot, end);
    return "again";
  });
}

async function ofControlPlane(pass: Pass, slot: SlotRecord): Promise<StepEnd> {
  const { cluster, view } = pass;
  const slots = pass.slots.all();
  if (makesCluster(cluster, slots, slot)) {
    if ("unreadable" in view.machines) {
      return waiting("waiting for MAAS to list its machines");
    }
    const forgotten = forgottenMachine(cluster, slots, view);
    return forgotten === undefined
      ? movedTo("deploying")
      : waiting(
          `MAAS lists ${forgotten} as a machine of the cluster, but the store does not know it: adopt or release it first`,
        );
  }
  const other = slots.find(
    ({ uid, pool, state }) =>
      uid !== slot.uid && pool === undefined && (state === "deploying" || state === "booted"),
  );
  return other === undefined
    ? joining(pass, slot)
    : waiting(`waiting for ${other.hostname ?? "another machine"} to join the control plane`);
}

async function joining(pass: Pass, slot: SlotRecord): Promise<StepEnd> {
  if (pass.view.api?.isReachable !== true) {
    return waiting("waiting for the cluster's API");
  }
  const former = nodeOf(slot, pass.view);
  if (former?.isReady === true) {
    return waiting("the cluster already has a ready node with this name");
  }
  if (former !== undefined) {
    await forgetNode(pass, slot);
  }
  return movedTo("deploying");
}
