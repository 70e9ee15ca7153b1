import { systemClock } from "./clock.ts";
import type { Fault } from "./fault-list.ts";

/**
 * Answers a request to a fake system as its fault demands.
 * @param answer carries out the request; given an answer of the fault, it must return that instead
 * @param signal ends a delay
 * @returns undefined if the connection must be closed without a reply
 */
export async function answerWithFault<Answer>(
  fault: Fault<Answer> | undefined,
  answer: (faulty: Answer | undefined) => Answer | undefined,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  if (fault?.kind === "cut") {
    return undefined;
  }
  if (fault?.kind === "delay") {
    await systemClock.sleep(fault.ms, signal);
  }
  const reply = answer(fault?.kind === "answer" ? fault.answer : undefined);
  return fault?.kind === "loseReply" ? undefined : reply;
}
