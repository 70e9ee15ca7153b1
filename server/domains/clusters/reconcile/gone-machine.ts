import type { SlotRecord } from "../../../store/cluster-records.ts";
import { forgetNode } from "./forget-node.ts";
import type { GoneMachine } from "./own-machine.ts";
import type { Pass } from "./pass.ts";
import { nodeOf } from "./plan/cluster-view.ts";
import { movedTo, type StepEnd } from "./step.ts";

/** MAAS says that the machine is not the slot's any more: the cluster forgets its node, and the slot is done. */
export async function goneMachine(pass: Pass, slot: SlotRecord, gone: GoneMachine): Promise<StepEnd> {
  // An address comes with the beginning of an installation; there are machines of which MAAS tells none, and those that were installed
  // while nobody looked.
  const wasInstalled =
    slot.ipAddress !== undefined || ["deploying", "booted", "joined", "draining"].includes(slot.state);
  // Or a gateway that stopped had it installed, and nobody looked before its slot was given up.
  const isMember = wasInstalled || nodeOf(slot, pass.view) !== undefined;
  const isNoMember = !isMember || isHandedOn(pass, slot, gone);
  const left = isNoMember ? "" : await forgetNode(pass, slot);
  const what = slot.state === "releasing" ? "given back" : "taken away";
  const message = `${slot.hostname ?? slot.systemId ?? "the machine"} was ${what}: ${gone.why}${left}`;
  return movedTo("released", { message, history: { message } });
}

/**
 * Whether the machine goes on in the same cluster under another slot, as after the store was put back from a backup: then its node and its
 * etcd are that one's. Not if that one has only just taken it: what it was before is gone with its disks.
 */
function isHandedOn(pass: Pass, slot: SlotRecord, { marks }: GoneMachine): boolean {
  if (marks?.clusterUid !== slot.clusterUid) {
    return false;
  }
  const next = pass.slots.get(marks.slotUid);
  return next === undefined || ["booted", "joined", "draining"].includes(next.state);
}
