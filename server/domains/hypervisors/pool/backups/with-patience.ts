import { setTimeout as sleep } from "node:timers/promises";
import type { Reason } from "../../../../../adapters/host/define-reasons.ts";
import { hasReason } from "../../../../../adapters/host/infra-error.ts";

const patienceMs = 30_000;
const againMs = 250;

/**
 * Retries an action for 30 seconds while it fails for one temporary reason.
 * @throws the last error of the action, any error with another reason, and the signal's reason
 */
export async function withPatience<T>(
  reason: Reason,
  signal: AbortSignal,
  act: () => Promise<T>,
): Promise<T> {
  const giveUpAtMs = performance.now() + patienceMs;
  for (;;) {
    try {
      return await act();
    } catch (error) {
      const isPassing = hasReason(error, reason);
      if (!isPassing || performance.now() > giveUpAtMs) {
        throw error;
      }
      await sleep(againMs, undefined, { signal });
    }
  }
}
