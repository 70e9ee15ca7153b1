import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { operationReasons } from "../../../operations/reasons.ts";
import { type Clocks, processClocks } from "./clocks.ts";

/** Proof that only this gateway works on a cluster, for a limited time. */
export interface PassLease {
  /**
   * Must be called right before any change outside the store.
   * @throws InfraError OPERATION_IN_PROGRESS once another gateway may have the cluster
   */
  assertHeld(): void;
  /** Reads the clocks, since the timers of a process that was frozen may not have fired yet. */
  isHeld(): boolean;
  /** Marks the lease as lost to another gateway. */
  lose(): void;
  /** Ends the lease when it is no longer needed. */
  drop(): void;
}

/**
 * Renews a claim every third of its duration, as long as the store allows.
 * @param renew reports whether the claim is still valid; its errors are retried until the lease ends
 * @param sinceMs when the claim was requested, by the monotonic clock: the store counts from then on or later
 */
export function holdLease(
  renew: () => Promise<{ readonly ok: boolean }>,
  leaseMs: number,
  sinceMs: number,
  clocks: Clocks = processClocks,
): PassLease {
  const { monotonicMs, wallMs } = clocks;
  let untilMs = sinceMs + leaseMs;
  let untilWallMs = wallMs() - (monotonicMs() - sinceMs) + leaseMs;
  let isLost = false;
  let timer = setTimeout(keep, leaseMs / 3).unref();

  function keep(): void {
    const startedMs = monotonicMs();
    const startedWallMs = wallMs();
    renew().then(
      ({ ok }) => {
        if (!ok) {
          isLost = true;
        } else if (isHeld()) {
          untilMs = startedMs + leaseMs;
          untilWallMs = startedWallMs + leaseMs;
          again(leaseMs / 3);
        }
      },
      () => again(leaseMs / 10),
    );
  }

  function again(ms: number): void {
    clearTimeout(timer);
    if (isHeld()) {
      timer = setTimeout(keep, ms).unref();
    }
  }

  function isHeld(): boolean {
    // Once expired by either clock, it stays expired.
    isLost ||= monotonicMs() >= untilMs || wallMs() >= untilWallMs;
    return !isLost;
  }

  return {
    isHeld,
    assertHeld() {
      if (!isHeld()) {
        throw new InfraError(
          operationReasons.OPERATION_IN_PROGRESS,
          "another gateway may be working on the cluster by now",
        );
      }
    },
    lose() {
      isLost = true;
      clearTimeout(timer);
    },
    drop() {
      isLost = true;
      clearTimeout(timer);
    },
  };
}
