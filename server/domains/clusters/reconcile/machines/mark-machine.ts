import type { SlotRecord } from "../../store/records.ts";
import type { Pass } from "../pass.ts";
import { movedTo, type StepEnd } from "../step.ts";
import { goneMachine } from "./gone-machine.ts";
import { marksOf } from "./machine-marks.ts";

/** Handles the state `allocated`: annotates the machine with its owner. */
export async function markMachine(pass: Pass, slot: SlotRecord): Promise<StepEnd> {
  const { maas, installationId } = pass.tools;
  const marks = marksOf(await installationId(), slot);
  const own = await pass.changeMachine(slot, "maas.annotate", ({ systemId }) =>
    maas.annotate(systemId, marks),
  );
  return own.is === "gone" ? goneMachine(pass, slot, own) : movedTo("annotated");
}
