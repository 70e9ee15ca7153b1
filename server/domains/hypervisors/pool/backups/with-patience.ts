import { setTimeout as sleep } from "node:timers/promises";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import type { ReasonName } from "../../../../../adapters/host/reasons.ts";

const patienceMs = 30_000;
const againMs = 250;

/**
 * Does what may fail for one reason that passes by itself, again for half a minute.
 * @throws what it throws in the end, and the signal's reason
 */
export async function withPatience<T>(
  reason: ReasonName,
  signal: AbortSignal,
  act: () => Promise<T>,
): Promise<T> {
  const giveUpAtMs = performance.now() + patienceMs;
  for (;;) {
    try {
      return await act();
    } catch (error) {
      const isPassing = error instanceof InfraError && error.reason === reason;
      if (!isPassing || performance.now() > giveUpAtMs) {
        throw error;
      }
      await sleep(againMs, undefined, { signal });
    }
  }
}
