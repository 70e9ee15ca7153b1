import type { SlotRecord } from "../../store/records.ts";
import { forgetNode } from "../nodes/forget-node.ts";
import type { Pass } from "../pass.ts";
import { nodeOf } from "../plan/cluster-view.ts";
import { movedTo, type StepEnd } from "../step.ts";
import type { GoneMachine } from "./own-machine.ts";

/**
 * Handles a machine that no longer belongs to the slot according to MAAS: removes its node from the cluster and ends the
 * slot.
 */
export async function goneMachine(pass: Pass, slot: SlotRecord, gone: GoneMachine): Promise<StepEnd> {
  // MAAS assigns an address when an installation begins, but not to every machine. A gateway that is killed during maas.deploy
  // does not record the address; then only the node in the cluster shows that the machine was installed.
  const mayBeMember =
    slot.ipAddress !== undefined ||
    ["deploying", "booted", "joined", "draining"].includes(slot.state) ||
    nodeOf(slot, pass.view) !== undefined;
  const left = mayBeMember && !isHandedOn(pass, slot, gone) ? await forgetNode(pass, slot) : "";
  const what = slot.state === "releasing" ? "released" : "lost";
  const message = `${slot.hostname ?? slot.systemId ?? "the machine"} was ${what}: ${gone.why}${left}`;
  return movedTo("released", { message, history: { message } });
}

/**
 * Reports whether the machine continues in the same cluster under another slot, as after a restore of the store from a
 * backup. Its node and etcd member then belong to that slot. If that slot has only just allocated it, the former installation
 * is gone with its disks.
 */
function isHandedOn(pass: Pass, slot: SlotRecord, { marks }: GoneMachine): boolean {
  if (marks?.clusterUid !== slot.clusterUid) {
    return false;
  }
  const next = pass.slots.get(marks.slotUid);
  return next === undefined || ["booted", "joined", "draining"].includes(next.state);
}
