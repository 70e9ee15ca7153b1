import type { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { ReasonName } from "../../../../adapters/host/reasons.ts";
import type { SlotRecord, SlotState } from "../../../store/cluster-records.ts";
import { freeMachineDelayMs, retryDelayMs } from "./delays.ts";
import type { Pass } from "./pass.ts";
import type { SlotFacts } from "./slot-book.ts";

/**
 * What comes of a step: facts to write down, after which the slot is stepped again if its state is another; `again` when the step has
 * written them itself; `wait` when there is nothing to do now.
 */
export type StepEnd = SlotFacts | "again" | "wait";

/** Takes a slot on from one state, as far as it goes without waiting. */
export type Step = (pass: Pass, slot: SlotRecord) => Promise<StepEnd>;

/** Of a machine that could not be installed, or did not join: another is to be taken. */
export const machineFailed = "MACHINE_FAILED" satisfies ReasonName;

/** The next state, with nothing left of what went wrong in the last. */
export function movedTo(state: SlotState, facts: SlotFacts = {}): SlotFacts {
  return { state, message: "", reason: "", attempts: 0, nextTryInMs: 0, ...facts };
}

/** The machine is to go. @param message why, as a clause */
export function leaving(message: string): SlotFacts {
  return movedTo("releasing", { message, history: { message } });
}

/** The machine is to go, and is to blame. @param message why, as a clause */
export function failed(message: string): SlotFacts {
  return movedTo("releasing", { message, reason: machineFailed, history: { message, isFailure: true } });
}

/** It goes on by itself; people are told why not yet. */
export function waiting(message: string): SlotFacts {
  return { message, reason: "", attempts: 0 };
}

/** Tried again after a while. */
export function retried(
  pass: Pass,
  slot: SlotRecord,
  error: Pick<InfraError, "message" | "reason" | "retryAfterMs">,
): SlotFacts {
  const attempts = slot.attempts + 1;
  const { pollMs } = pass.tools.settings;
  return {
    message: error.message,
    // While a machine is given back it stays known that it is to blame.
    reason: slot.reason === machineFailed ? machineFailed : error.reason,
    attempts,
    nextTryInMs: Math.max(retryDelayMs(attempts, pollMs), error.retryAfterMs ?? 0),
  };
}

/** There is no machine for it now. */
export function withoutMachine(pass: Pass, slot: SlotRecord, message: string): SlotFacts {
  const attempts = slot.attempts + 1;
  const nextTryInMs = freeMachineDelayMs(attempts, pass.tools.settings.pollMs);
  return { message, reason: "NO_MACHINE" satisfies ReasonName, attempts, nextTryInMs };
}
