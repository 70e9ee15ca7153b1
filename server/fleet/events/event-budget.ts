import { setTimeout as delay } from "node:timers/promises";

/** Limits how much of the hub's log the events of one host take. */
export interface EventBudget {
  /**
   * Resolves when the host may take this much more. It waits if the host has used up its budget.
   * @throws the signal's reason
   */
  take(bytes: number, signal: AbortSignal): Promise<void>;
}

export interface EventBudgetOptions {
  /** Size of a full budget. */
  readonly burstBytes: number;
  /** How fast it fills again. */
  readonly bytesPerSecond: number;
  /** Called when a host begins to wait, and again only after half of its budget has filled up. */
  readonly onWait: () => void;
}

/** A day of it is some 1.4 GB. A burst is some 60,000 small events, with which a host that was away catches up. */
export const hostBudget = { burstBytes: 64 * 1024 * 1024, bytesPerSecond: 16 * 1024 };

/** Creates a full budget. A request may take more than is left; later ones then wait until the deficit is repaid. */
export function createEventBudget({ burstBytes, bytesPerSecond, onWait }: EventBudgetOptions): EventBudget {
  let leftBytes = burstBytes;
  let atMs = performance.now();
  /** A host that goes on sending waits for each batch, many times a second if they are small. */
  let isReported = false;
  return {
    async take(bytes, signal) {
      const nowMs = performance.now();
      leftBytes = Math.min(burstBytes, leftBytes + ((nowMs - atMs) / 1000) * bytesPerSecond);
      atMs = nowMs;
      isReported &&= leftBytes < burstBytes / 2;
      if (leftBytes < 0) {
        if (!isReported) {
          isReported = true;
          onWait();
        }
        const waitMs = Math.ceil((-leftBytes / bytesPerSecond) * 1000);
        try {
          await delay(waitMs, undefined, { signal });
        } catch {
          signal.throwIfAborted();
        }
      }
      leftBytes -= bytes;
    },
  };
}
