import { InfraError } from "../../../adapters/host/infra-error.ts";
import { operationReasons } from "../reasons.ts";
import type { HeldLease } from "../store/claims.ts";

/** The exclusive right of this gateway to run an operation, for a limited time. */
export interface Lease extends HeldLease {
  /** Aborted once another gateway may have the operation. */
  readonly lost: AbortSignal;
  /** Aborted when the operation was asked to stop. */
  readonly cancelled: AbortSignal;
  /** Reports whether the lease is lost. Checks the clock too, because the timers of a suspended process are late. */
  isLost(): boolean;
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

/** Minimum interval between checks of a lease that has expired and is not lost. */
const leastWatchMs = 100;

/**
 * @param onFailed called when a renewal fails; it is retried while the leases may still be ours
 * @param mayLapse whether expiry alone ends a lease, because another gateway may take it then. Otherwise a late renewal, as on
 * a starved host, still succeeds.
 */
export function createLeases(
  renewLeases: RenewLeases,
  leaseMs: number,
  onFailed: (error: unknown) => void,
  mayLapse: () => boolean,
): Leases {
  const held = new Map<string, Lease & { extend(untilMs: number): void }>();
  let timer: NodeJS.Timeout | undefined;
  let isOpen = false;

  /** Schedules the next renewal. A gateway without leases only reports that it is alive. */
  function schedule(delayMs = held.size > 0 ? leaseMs / 3 : leaseMs): void {
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
      schedule();
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
      let expiry: NodeJS.Timeout | undefined;

      function isLost(): boolean {
        if (performance.now() >= untilMs && mayLapse()) {
          lease.lose();
        }
        return lost.signal.aborted;
      }
      function watch(): void {
        clearTimeout(expiry);
        if (!isLost()) {
          expiry = setTimeout(watch, Math.max(leastWatchMs, untilMs - performance.now())).unref();
        }
      }
      const lease = {
        id,
        fence,
        lost: lost.signal,
        cancelled: cancelled.signal,
        isLost,
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
