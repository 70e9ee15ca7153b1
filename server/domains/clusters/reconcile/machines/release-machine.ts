import { maasReasons } from "../../../../../adapters/maas/reasons.ts";
import type { SlotRecord } from "../../store/records.ts";
import { forgetNode } from "../nodes/forget-node.ts";
import type { Pass } from "../pass.ts";
import { machineFailed, movedTo, retried, type StepEnd, waiting } from "../step.ts";
import { goneMachine } from "./gone-machine.ts";
import { markedSlotOf, marksOf } from "./machine-marks.ts";
import { goneBecause, isLeavingMaas } from "./own-machine.ts";
import { takenMachine } from "./take-machine.ts";

const dayMs = 24 * 3_600_000;
/** Number of failures within a day after which a machine is marked as broken and must be checked before it is used again. */
const failuresOfBroken = 2;

/** Handles the state `releasing`: releases the machine, until it no longer belongs to the slot according to MAAS. */
export async function releaseMachine(pass: Pass, slot: SlotRecord): Promise<StepEnd> {
  if (slot.systemId === undefined) {
    return resolveCandidate(pass, slot);
  }
  const own = await pass.inspect(slot);
  if (own.is === "gone") {
    return goneMachine(pass, slot, own);
  }
  const { machine } = own;
  const { status, hostname } = machine;
  if (machine.isLocked) {
    return {
      ...waiting(`${hostname} is locked in MAAS; unlock it so that it can be released`),
      ...reasonOf(slot, maasReasons.MACHINE_LOCKED.id),
    };
  }
  if (status === "releasing" || status === "diskErasing") {
    return { ...waiting(`MAAS is releasing ${hostname}`), ...reasonOf(slot, "") };
  }
  if (status === "failedReleasing" || status === "failedDiskErasing") {
    const again = await release(pass, slot);
    const failure = {
      message: `MAAS failed to release ${hostname}; retrying`,
      reason: maasReasons.MAAS_FAILED.id,
    };
    return again === "requested"
      ? { ...retried(pass, slot, { ...failure, retryAfterMs: undefined }) }
      : again;
  }
  const wasInstalled = status !== "allocated" || slot.ipAddress !== undefined;
  const left = wasInstalled ? await forgetNode(pass, slot) : "";
  const end = (await isBroken(pass, slot)) ? await markBroken(pass, slot) : await release(pass, slot);
  return end === "requested"
    ? { ...waiting(`MAAS is releasing ${hostname}${left}`), ...reasonOf(slot, "") }
    : end;
}

/** Finds out from MAAS whether the candidate was allocated. */
async function resolveCandidate(pass: Pass, slot: SlotRecord): Promise<StepEnd> {
  const machine = await takenMachine(pass, slot);
  if (machine === undefined) {
    const message =
      slot.message === "" ? "no machine was allocated" : `${slot.message}; no machine was allocated`;
    return movedTo("released", { message, history: { message } });
  }
  const { systemId, hostname } = machine;
  await pass.slots.write(slot, { systemId, candidateId: systemId, hostname });
  return "again";
}

async function release(pass: Pass, slot: SlotRecord): Promise<StepEnd | "requested"> {
  const { maas, installationId } = pass.tools;
  const marks = marksOf(await installationId(), slot);
  const comment = `hostplane: released by cluster ${slot.cluster}`;
  const done = await pass.changeMachine(slot, "maas.release", async (machine) => {
    const { systemId, annotations } = machine;
    // A release removes the agent name. Without a mark, a machine whose release fails would have no owner.
    if (markedSlotOf(annotations) === undefined && !isLeavingMaas(machine)) {
      await maas.annotate(systemId, marks);
      pass.lease.assertHeld();
    }
    return maas.release(systemId, { comment });
  });
  if (done.is === "gone") {
    return goneMachine(pass, slot, done);
  }
  return done.result.owner === undefined ? goneMachine(pass, slot, goneBecause("it is ready")) : "requested";
}

/**
 * The machine is the cause only if others of its type became nodes with the same image; otherwise the image or the CNI may be
 * at fault.
 */
async function isBroken({ tools, slots }: Pass, slot: SlotRecord): Promise<boolean> {
  const isImageGood = slots
    .all()
    .some(
      ({ state, k8sVersion, instanceType }) =>
        state === "joined" && k8sVersion === slot.k8sVersion && instanceType === slot.instanceType,
    );
  if (slot.reason !== machineFailed || slot.systemId === undefined || !isImageGood) {
    return false;
  }
  const query = { systemIds: [slot.systemId], sinceMsAgo: dayMs };
  const [failures] = await tools.store.run("clusters.failures", query);
  return (failures?.count ?? 0) >= failuresOfBroken;
}

async function markBroken(pass: Pass, slot: SlotRecord): Promise<StepEnd | "requested"> {
  const comment = `hostplane: ${slot.message}`.replace(/\p{Cc}/gu, " ").slice(0, 1000);
  const { maas } = pass.tools;
  const done = await pass.changeMachine(slot, "maas.markBroken", ({ systemId }) =>
    maas.markBroken(systemId, comment),
  );
  const times = `it failed ${failuresOfBroken} times within a day and was marked as broken`;
  return done.is === "changed" && done.result.owner !== undefined
    ? "requested"
    : goneMachine(pass, slot, done.is === "gone" ? done : goneBecause(times));
}

/** Keeps the reason if the machine itself has failed. */
function reasonOf({ reason }: SlotRecord, next: string) {
  return { reason: reason === machineFailed ? machineFailed : next };
}
