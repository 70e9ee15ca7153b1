import type { SlotRecord } from "../../../store/cluster-records.ts";
import { markedSlotOf, marksOf } from "../machine-marks.ts";
import { forgetNode } from "./forget-node.ts";
import { goneMachine } from "./gone-machine.ts";
import { goneBecause, isLeavingMaas } from "./own-machine.ts";
import type { Pass } from "./pass.ts";
import { machineFailed, movedTo, retried, type StepEnd, waiting } from "./step.ts";
import { takenMachine } from "./take-machine.ts";

const dayMs = 24 * 3_600_000;
/** So many failures within a day, and nobody is to take the machine before someone has looked at it. */
const failuresOfBroken = 2;

/** Releasing: gives the machine back, until MAAS says that it is the slot's no more. */
export async function releaseMachine(pass: Pass, slot: SlotRecord): Promise<StepEnd> {
  if (slot.systemId === undefined) {
    return resolveCandidate(pass, slot);
  }
  const own = await pass.look(slot);
  if (own.is === "gone") {
    return goneMachine(pass, slot, own);
  }
  const { machine } = own;
  const { status, hostname } = machine;
  if (machine.isLocked) {
    return {
      ...waiting(`${hostname} is locked in MAAS; unlock it, so that it can be given back`),
      ...reasonOf(slot, "MACHINE_LOCKED"),
    };
  }
  if (status === "releasing" || status === "diskErasing") {
    return { ...waiting(`MAAS releases ${hostname}`), ...reasonOf(slot, "") };
  }
  if (status === "failedReleasing" || status === "failedDiskErasing") {
    const again = await release(pass, slot);
    const failure = {
      message: `MAAS failed to release ${hostname}, and is asked again`,
      reason: "MAAS_FAILED",
    } as const;
    return again === "asked" ? { ...retried(pass, slot, { ...failure, retryAfterMs: undefined }) } : again;
  }
  const wasInstalled = status !== "allocated" || slot.ipAddress !== undefined;
  const left = wasInstalled ? await forgetNode(pass, slot) : "";
  const end = (await isBroken(pass, slot)) ? await markBroken(pass, slot) : await release(pass, slot);
  return end === "asked" ? { ...waiting(`MAAS releases ${hostname}${left}`), ...reasonOf(slot, "") } : end;
}

/** A machine that may have been taken: MAAS knows. */
async function resolveCandidate(pass: Pass, slot: SlotRecord): Promise<StepEnd> {
  const machine = await takenMachine(pass, slot);
  if (machine === undefined) {
    const message = slot.message === "" ? "no machine was taken" : `${slot.message}; no machine was taken`;
    return movedTo("released", { message, history: { message } });
  }
  const { systemId, hostname } = machine;
  await pass.slots.write(slot, { systemId, candidateId: systemId, hostname });
  return "again";
}

async function release(pass: Pass, slot: SlotRecord): Promise<StepEnd | "asked"> {
  const { maas, installationId } = pass.tools;
  const marks = marksOf(await installationId(), slot);
  const comment = `hostplane: cluster ${slot.cluster} gives it back`;
  const done = await pass.changeMachine(slot, "maas.release", async (machine) => {
    const { systemId, annotations } = machine;
    // With its release its agent name goes, and if that failed it would be nobody's.
    if (markedSlotOf(annotations) === undefined && !isLeavingMaas(machine)) {
      await maas.annotate(systemId, marks);
      pass.lease.assertHeld();
    }
    return maas.release(systemId, { comment });
  });
  if (done.is === "gone") {
    return goneMachine(pass, slot, done);
  }
  return done.result.owner === undefined ? goneMachine(pass, slot, goneBecause("it is ready")) : "asked";
}

/** A machine is to blame only if others of its kind became nodes with the same image: else it may be the image, or the CNI. */
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
  const asked = { systemIds: [slot.systemId], sinceMsAgo: dayMs };
  const [failures] = await tools.store.run("clusters.failures", asked);
  return (failures?.count ?? 0) >= failuresOfBroken;
}

async function markBroken(pass: Pass, slot: SlotRecord): Promise<StepEnd | "asked"> {
  const comment = `hostplane: ${slot.message}`.replace(/\p{Cc}/gu, " ").slice(0, 1000);
  const { maas } = pass.tools;
  const done = await pass.changeMachine(slot, "maas.markBroken", ({ systemId }) =>
    maas.markBroken(systemId, comment),
  );
  const times = `it has failed ${failuresOfBroken} times within a day, and is marked as broken`;
  return done.is === "changed" && done.result.owner !== undefined
    ? "asked"
    : goneMachine(pass, slot, done.is === "gone" ? done : goneBecause(times));
}

/** That the machine is to blame stays known. */
function reasonOf({ reason }: SlotRecord, next: string) {
  return { reason: reason === machineFailed ? machineFailed : next };
}
