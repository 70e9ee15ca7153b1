import type { SlotRecord } from "../../store/records.ts";
import { goneMachine } from "../machines/gone-machine.ts";
import { isLeavingMaas } from "../machines/own-machine.ts";
import type { Pass } from "../pass.ts";
import { nodeNameOf } from "../plan/cluster-view.ts";
import { leaving, type StepEnd, waiting } from "../step.ts";
import { forgetNode } from "./forget-node.ts";

const namedPods = 5;

/**
 * Handles the state `draining`: evicts the pods until they are gone or the time is up, then removes the node from the
 * cluster.
 */
export async function drainNode(pass: Pass, slot: SlotRecord): Promise<StepEnd> {
  if (pass.cluster.isDeleting) {
    return leaving("the cluster is deleted");
  }
  const own = await pass.inspect(slot);
  if (own.is === "gone") {
    return goneMachine(pass, slot, own);
  }
  if (isLeavingMaas(own.machine)) {
    return leaving("it is being released in MAAS");
  }
  const isOver = pass.nowMs() - slot.stateSinceMs > pass.tools.settings.drainTimeoutMs;
  const name = nodeNameOf(slot);
  const api = pass.api();
  if (!isOver && name !== undefined && api !== undefined) {
    await pass.change("workload.cordon", () => api.cordon(name));
    const { remaining, blocked } = await pass.change("workload.drain", () => api.drain(name));
    if (remaining.length > 0) {
      const [first] = blocked;
      const why = first === undefined ? "" : `; ${first.pod} cannot be evicted: ${first.why}`;
      return waiting(`pods still running on ${name}: ${listed(remaining)}${why}`);
    }
  }
  const left = await forgetNode(pass, slot);
  const minutes = Math.ceil(pass.tools.settings.drainTimeoutMs / 60_000);
  const drained = isOver
    ? `${name} was not drained after ${minutes} minutes: ${slot.message}`
    : `${name} is drained`;
  return leaving(`${drained}${left}`);
}

function listed(pods: readonly string[]): string {
  const more = pods.length > namedPods ? ` and ${pods.length - namedPods} more` : "";
  return `${pods.slice(0, namedPods).join(", ")}${more}`;
}
