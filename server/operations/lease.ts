import { InfraError } from "../../adapters/host/infra-error.ts";
import type { HeldLease } from "../store/operation-claims.ts";

/** That this gateway alone runs an operation, for now. */
export interface Lease extends HeldLease {
  /** Aborted once another gateway may have the operation. */
  readonly lost: AbortSignal;
  /** Aborted when the operation was asked to stop. */
  readonly cancelled: AbortSignal;
  /** Looks at the clock as well: a process that slept has not heard its timers yet. */
  isLost(): boolean;
  /** Another gateway has it. */
  lose(): void;
  /** It was asked to stop. */
  cancel(): void;
  /** No longer needed. */
  drop(): void;
}

/** The leases of what this gateway runs. */
export interface Leases {
  /** @param sinceMs when the claim was asked for, of `performance.now()`: the store counts from then on or later */
  hold(held: HeldLease, sinceMs: number): Lease;
  /** Begins to renew them, and to say that this gateway lives. */
  begin(): void;
  /** Of those that were asked to stop. */
  cancel(ids: readonly string[]): void;
  readonly ids: readonly string[];
  close(): void;
}

/** Asks the store to keep leases for another time; as the transaction `operations.renew`. */
export type RenewLeases = (
  leases: readonly HeldLease[],
) => Promise<{ readonly lostIds: readonly string[]; readonly cancelledIds: readonly string[] }>;

/** How soon a lease that is over, and not lost, is checked again. */
const leastWatchMs = 100;

/**
 * @param onFailed called when they could not be renewed; they are tried again as long as they may still be ours
 * @param mayLapse whether time alone ends a lease: another gateway may take it then. Otherwise one that was not renewed in
 *   time, as on a starved host, is renewed late
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

  /** A gateway that runs nothing only says that it lives. */
  function schedule(delayMs = held.size > 0 ? leaseMs / 3 : leaseMs): void {
    clearTimeout(timer);
    if (isOpen) {
      timer = setTimeout(() => void renew(), delayMs).unref();
    }
  }

  async function renew(): Promise<void> {
    const begunMs = performance.now();
    const asked = [...held.values()];
    try {
      const { lostIds, cancelledIds } = await renewLeases(asked.map(({ id, fence }) => ({ id, fence })));
      for (const lease of asked) {
        if (lostIds.includes(lease.id)) {
          lease.lose();
        } else if (held.get(lease.id) === lease) {
          lease.extend(begunMs + leaseMs);
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
          lost.abort(new InfraError("OPERATION_IN_PROGRESS", "another gateway may run the operation by now"));
        },
        cancel: () =>
          cancelled.abort(new InfraError("OPERATION_CANCELLED", "the operation was asked to stop")),
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
