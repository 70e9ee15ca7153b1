import type { SlotRecord } from "../../../store/cluster-records.ts";
import { goneMachine } from "./gone-machine.ts";
import { isLeavingMaas } from "./own-machine.ts";
import type { Pass } from "./pass.ts";
import { leaving, type StepEnd, waiting } from "./step.ts";

/** Joined: sees to it that the machine is still there. */
export async function watchNode(pass: Pass, slot: SlotRecord): Promise<StepEnd> {
  if ("unreadable" in pass.view.machines) {
    // The status of the cluster tells that; of this machine nothing is known.
    return "wait";
  }
  const own = await pass.look(slot);
  if (own.is === "gone") {
    return goneMachine(pass, slot, own);
  }
  return isLeavingMaas(own.machine) ? leaving("it is being released in MAAS") : waiting("");
}
