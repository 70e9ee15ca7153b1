import type { SlotRecord } from "../../store/records.ts";
import { goneMachine } from "../machines/gone-machine.ts";
import { isLeavingMaas } from "../machines/own-machine.ts";
import type { Pass } from "../pass.ts";
import { leaving, type StepEnd, waiting } from "../step.ts";

/** Handles the state `joined`: checks that the machine still belongs to the slot. */
export async function watchNode(pass: Pass, slot: SlotRecord): Promise<StepEnd> {
  if ("unreadable" in pass.view.machines) {
    // The cluster's status reports this; nothing is known about this machine.
    return "wait";
  }
  const own = await pass.inspect(slot);
  if (own.is === "gone") {
    return goneMachine(pass, slot, own);
  }
  return isLeavingMaas(own.machine) ? leaving("it is being released in MAAS") : waiting("");
}
