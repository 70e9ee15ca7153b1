import type { InfraError } from "../../../../adapters/host/infra-error.ts";
import { maasReasons } from "../../../../adapters/maas/reasons.ts";
import { clusterReasons } from "../reasons.ts";
import type { SlotRecord, SlotState } from "../store/records.ts";
import { freeMachineDelayMs, retryDelayMs } from "./delays.ts";
import type { Pass } from "./pass.ts";
import type { SlotFacts } from "./slot-book.ts";

/**
 * Result of a step: facts to store, after which the slot is stepped again if its state has changed; `again` when the step has
 * stored them itself; `wait` when there is nothing to do now.
 */
export type StepEnd = SlotFacts | "again" | "wait";

/** Advances a slot from one state, as far as possible without waiting. */
export type Step = (pass: Pass, slot: SlotRecord) => Promise<StepEnd>;

/** Reason for a machine that could not be installed or did not join: it is replaced. */
export const machineFailed = clusterReasons.MACHINE_FAILED.id;

/** Moves to the next state and clears the errors of the last one. */
export function movedTo(state: SlotState, facts: SlotFacts = {}): SlotFacts {
  return { state, message: "", reason: "", attempts: 0, nextTryInMs: 0, ...facts };
}

/** Removes the machine. @param message the reason, as a clause */
export function leaving(message: string): SlotFacts {
  return movedTo("releasing", { message, history: { message } });
}

/** Removes the machine and records it as the cause. @param message the reason, as a clause */
export function failed(message: string): SlotFacts {
  return movedTo("releasing", { message, reason: machineFailed, history: { message, isFailure: true } });
}

/** Waits for a condition that will be met without intervention; the message says which. */
export function waiting(message: string): SlotFacts {
  return { message, reason: "", attempts: 0 };
}

/** Retries after a delay. */
export function retried(
  pass: Pass,
  slot: SlotRecord,
  error: Pick<InfraError, "message" | "reason" | "retryAfterMs">,
): SlotFacts {
  const attempts = slot.attempts + 1;
  const { pollMs } = pass.tools.settings;
  return {
    message: error.message,
    // A machine that has failed keeps that reason until it is released.
    reason: slot.reason === machineFailed ? machineFailed : error.reason,
    attempts,
    nextTryInMs: Math.max(retryDelayMs(attempts, pollMs), error.retryAfterMs ?? 0),
  };
}

/** No machine is available at the moment. */
export function withoutMachine(pass: Pass, slot: SlotRecord, message: string): SlotFacts {
  const attempts = slot.attempts + 1;
  const nextTryInMs = freeMachineDelayMs(attempts, pass.tools.settings.pollMs);
  return { message, reason: maasReasons.NO_MACHINE.id, attempts, nextTryInMs };
}
