import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { type Clocks, processClocks } from "../clocks.ts";

/** That this gateway alone works on a cluster, for now. */
export interface PassLease {
  /**
   * Right before whatever changes something outside of the store.
   * @throws InfraError OPERATION_IN_PROGRESS once another gateway may have the cluster
   */
  assertHeld(): void;
  /** Looks at the clocks: a process that slept has not heard its timers yet. */
  isHeld(): boolean;
  /** Another gateway has it. */
  lose(): void;
  /** No longer needed. */
  drop(): void;
}

/**
 * Keeps a claim for as long as the store lets it, by asking at every third of its time.
 * @param renew whether the claim still stands; what it throws is tried again as long as the lease lasts
 * @param sinceMs when the claim was asked for, by the monotonic clock: the store counts from then on or later
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
    const begunMs = monotonicMs();
    const begunWallMs = wallMs();
    renew().then(
      ({ ok }) => {
        if (!ok) {
          isLost = true;
        } else if (isHeld()) {
          untilMs = begunMs + leaseMs;
          untilWallMs = begunWallMs + leaseMs;
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
    // What is over by any clock stays over.
    isLost ||= monotonicMs() >= untilMs || wallMs() >= untilWallMs;
    return !isLost;
  }

  return {
    isHeld,
    assertHeld() {
      if (!isHeld()) {
        throw new InfraError("OPERATION_IN_PROGRESS", "another gateway may work on the cluster by now");
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
