import { setTimeout as delay } from "node:timers/promises";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { operationReasons } from "../reasons.ts";
import type { HeldLease } from "../store/claims.ts";

/** The exclusive right of this gateway to run an operation, for a limited time. */
export interface Lease extends HeldLease {
  /** Aborted once another gateway may have the operation. */
  readonly lost: AbortSignal;
  /** Aborted when the operation was asked to stop. */
  readonly cancelled: AbortSignal;
  /**
   * Reports whether the lease is lost. Of an expired lease, as after the process was suspended, only the store knows: waits until
   * a renewal succeeds or the lease is lost.
   */
  isLost(): Promise<boolean>;
  /** Marks the lease as lost: another gateway has the operation. */
  lose(): void;
  /** Records that the operation was asked to stop. */
  cancel(): void;
  /** Drops the lease when it is no longer needed. */
  drop(): void;
}

/** Leases of the operations that this gateway runs. */
export interface Leases {
  /** @param sinceMs time of the claim request, in terms of `performance.now()`; the lease in the store begins then or later */
  hold(held: HeldLease, sinceMs: number): Lease;
  /** Starts to renew leases and to report that this gateway is alive. */
  begin(): void;
  /** Marks leases as cancelled. */
  cancel(ids: readonly string[]): void;
  readonly ids: readonly string[];
  close(): void;
}

/** Renews leases in the store, by the transaction `operations.renew`. */
export type RenewLeases = (
  leases: readonly HeldLease[],
) => Promise<{ readonly lostIds: readonly string[]; readonly cancelledIds: readonly string[] }>;

/** Interval between checks of a lease that has expired and is not lost. */
const watchMs = 100;

/**
 * @param onFailed called when a renewal fails; it is retried while the leases may still be ours
 * @param graceMs time for which an expired lease is kept, because a late renewal, as on a starved host, succeeds unless another
 * gateway has taken the operation. Time for which the process does not run does not count. Infinity: no other gateway can take
 * it.
 */
export function createLeases(
  renewLeases: RenewLeases,
  leaseMs: number,
  onFailed: (error: unknown) => void,
  graceMs: () => number,
): Leases {
  const held = new Map<string, Lease & { extend(untilMs: number): void }>();
  let timer: NodeJS.Timeout | undefined;
  let isOpen = false;

  /** Returns the interval between renewals. A gateway without leases only reports that it is alive. */
  function intervalMs(): number {
    return held.size > 0 ? leaseMs / 3 : leaseMs;
  }

  function schedule(delayMs = intervalMs()): void {
    clearTimeout(timer);
    if (isOpen) {
      timer = setTimeout(() => void renew(), delayMs).unref();
    }
  }

  async function renew(): Promise<void> {
    const startedMs = performance.now();
    const leases = [...held.values()];
    try {
      const { lostIds, cancelledIds } = await renewLeases(leases.map(({ id, fence }) => ({ id, fence })));
      for (const lease of leases) {
        if (lostIds.includes(lease.id)) {
          lease.lose();
        } else if (held.get(lease.id) === lease) {
          lease.extend(startedMs + leaseMs);
        }
      }
      cancel(cancelledIds);
      schedule(Math.max(0, startedMs + intervalMs() - performance.now()));
    } catch (error) {
      onFailed(error);
      schedule(leaseMs / 10);
    }
  }

  function cancel(ids: readonly string[]): void {
    for (const id of ids) {
      held.get(id)?.cancel();
    }
  }

  return {
    get ids() {
      return [...held.keys()];
    },
    hold({ id, fence }, sinceMs) {
      const lost = new AbortController();
      const cancelled = new AbortController();
      let untilMs = sinceMs + leaseMs;
      let expiredMs = 0;
      let expiry: NodeJS.Timeout | undefined;

      const isExpired = () => performance.now() >= untilMs;
      function watch(): void {
        clearTimeout(expiry);
        expiredMs = isExpired() ? expiredMs + watchMs : 0;
        if (expiredMs > graceMs()) {
          lease.lose();
        } else {
          expiry = setTimeout(watch, Math.max(watchMs, untilMs - performance.now())).unref();
        }
      }
      const lease = {
        id,
        fence,
        lost: lost.signal,
        cancelled: cancelled.signal,
        async isLost() {
          while (isExpired() && !lost.signal.aborted && graceMs() !== Number.POSITIVE_INFINITY) {
            await delay(watchMs);
          }
          return lost.signal.aborted;
        },
        lose() {
          clearTimeout(expiry);
          lost.abort(
            new InfraError(
              operationReasons.OPERATION_IN_PROGRESS,
              "another gateway may be running the operation",
            ),
          );
        },
        cancel: () =>
          cancelled.abort(
            new InfraError(
              operationReasons.OPERATION_CANCELLED,
              "cancellation of the operation was requested",
            ),
          ),
        extend(ms: number) {
          if (!lost.signal.aborted) {
            untilMs = ms;
            expiredMs = 0;
            watch();
          }
        },
        drop() {
          clearTimeout(expiry);
          held.delete(id);
        },
      };
      const isFirst = held.size === 0;
      held.set(id, lease);
      watch();
      if (isFirst) {
        schedule();
      }
      return lease;
    },
    begin() {
      isOpen = true;
      void renew();
    },
    cancel,
    close() {
      isOpen = false;
      clearTimeout(timer);
    },
  };
}
