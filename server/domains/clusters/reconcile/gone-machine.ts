import type { SlotRecord } from "../../../store/cluster-records.ts";
import { forgetNode } from "./forget-node.ts";
import type { GoneMachine } from "./own-machine.ts";
import type { Pass } from "./pass.ts";
import { nodeOf } from "./plan/cluster-view.ts";
import { movedTo, type StepEnd } from "./step.ts";

/** MAAS says that the machine is not the slot's any more: the cluster forgets its node, and the slot is done. */
export async function goneMachine(pass: Pass, slot: SlotRecord, gone: GoneMachine): Promise<StepEnd> {
  // MAAS assigns an address when an installation begins, but not to every machine. A gateway that is killed during maas.deploy
  // does not record it: then only the node in the cluster shows that the machine was installed.
  const mayBeMember =
    slot.ipAddress !== undefined ||
    ["deploying", "booted", "joined", "draining"].includes(slot.state) ||
    nodeOf(slot, pass.view) !== undefined;
  const left = mayBeMember && !isHandedOn(pass, slot, gone) ? await forgetNode(pass, slot) : "";
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
