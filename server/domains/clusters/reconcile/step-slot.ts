import { hasReason, InfraError } from "../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import { maasReasons } from "../../../../adapters/maas/reasons.ts";
import { storeReasons } from "../../../store/reasons.ts";
import type { SlotRecord, SlotState } from "../store/records.ts";
import { beginDeployment } from "./machines/begin-deployment.ts";
import { chooseMachine } from "./machines/choose-machine.ts";
import { deployMachine } from "./machines/deploy-machine.ts";
import { markMachine } from "./machines/mark-machine.ts";
import { releaseMachine } from "./machines/release-machine.ts";
import { takeMachine } from "./machines/take-machine.ts";
import { drainNode } from "./nodes/drain-node.ts";
import { joinNode } from "./nodes/join-node.ts";
import { watchNode } from "./nodes/watch-node.ts";
import type { Pass } from "./pass.ts";
import type { SlotFacts } from "./slot-book.ts";
import { retried, type Step, type StepEnd } from "./step.ts";

const steps: Readonly<Record<Exclude<SlotState, "released">, Step>> = {
  wanted: chooseMachine,
  candidate: takeMachine,
  allocated: markMachine,
  annotated: beginDeployment,
  deploying: deployMachine,
  booted: joinNode,
  joined: watchNode,
  draining: drainNode,
  releasing: releaseMachine,
};

/** More than the number of states. If a slot needs more steps, it continues in the next pass. */
const maxSteps = 12;

/**
 * Advances a slot as far as possible without waiting. Errors of MAAS or the cluster are stored in the slot, which is retried
 * later.
 * @param assertGoesOn throws when the pass is to end
 * @throws InfraError when the lease is over, and as the store does
 */
export async function stepSlot(pass: Pass, uid: string, assertGoesOn: () => void): Promise<void> {
  for (let count = 0; count < maxSteps; count += 1) {
    const slot = pass.slots.get(uid);
    if (slot === undefined || slot.state === "released" || restMs(slot, pass.nowMs()) > 0 || pass.isLong()) {
      return;
    }
    assertGoesOn();
    const end = await stepOnce(pass, slot, steps[slot.state]);
    if (end === "wait") {
      return;
    }
    if (end !== "again") {
      const isWritten = !isNews(slot, end) || (await writeEnd(pass, slot, end));
      if (!isWritten || end.state === undefined) {
        return;
      }
    }
  }
}

/** Maximum delay of a slot: a time further ahead was stored while the clock was wrong, and is ignored. */
const maxRestMs = 3_600_000;

/** Returns for how many more milliseconds a slot must not be retried; 0 when it is due. */
export function restMs({ nextTryAtMs }: SlotRecord, nowMs: number): number {
  const ms = nextTryAtMs - nowMs;
  return ms > 0 && ms <= maxRestMs ? ms : 0;
}

async function stepOnce(pass: Pass, slot: SlotRecord, step: Step): Promise<StepEnd> {
  try {
    return await step(pass, slot);
  } catch (error) {
    if (!pass.lease.isHeld() || isOfStore(error)) {
      throw error;
    }
    if (error instanceof InfraError) {
      if (error.is(maasReasons.MAAS_DENIED, maasReasons.MAAS_REFUSED)) {
        pass.tools.forgetAccount();
      }
      return retried(pass, slot, error);
    }
    pass.tools.log.warn(`cluster ${slot.cluster}: reconciling machine ${slot.uid} failed`, error);
    return retried(
      pass,
      slot,
      new InfraError(hostReasons.INTERNAL, "internal error of the gateway; see its log"),
    );
  }
}

/** @returns false when it failed: another slot may still hold the machine until it has noticed the release */
async function writeEnd(pass: Pass, slot: SlotRecord, end: SlotFacts): Promise<boolean> {
  try {
    await pass.slots.write(slot, end);
    return true;
  } catch (error) {
    if (!hasReason(error, hostReasons.INTERNAL) || !pass.lease.isHeld()) {
      throw error;
    }
    pass.tools.log.warn(`cluster ${slot.cluster}: failed to store the state of machine ${slot.uid}`, error);
    await pass.slots.write(slot, retried(pass, slot, error));
    return false;
  }
}

/** After these errors it is unknown what was stored; the next claim reads it. */
function isOfStore(error: unknown): boolean {
  return hasReason(error, storeReasons.STORE_UNAVAILABLE, hostReasons.SHUTTING_DOWN);
}

function isNews(slot: SlotRecord, facts: SlotFacts): boolean {
  const { message, reason, attempts, ipAddress, nextTryInMs = 0 } = facts;
  return (
    facts.state !== undefined ||
    facts.history !== undefined ||
    nextTryInMs > 0 ||
    (message ?? slot.message) !== slot.message ||
    (reason ?? slot.reason) !== slot.reason ||
    (attempts ?? slot.attempts) !== slot.attempts ||
    (ipAddress ?? slot.ipAddress) !== slot.ipAddress
  );
}
