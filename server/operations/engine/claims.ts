import { hasReason } from "../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import type { ResultOf, Store } from "../../store/store.ts";
import type { ClaimArgs } from "../store/claims.ts";
import type { Leases } from "./lease.ts";

export type ClaimedOperation = NonNullable<ResultOf<"operations.claim">>;

/** Claims operations while there are any for this gateway. */
export interface Claims {
  begin(): void;
  /** Checks again: there may be free capacity. */
  wake(): void;
  /** Stops claiming; resolves once no claim is in progress. */
  close(): Promise<void>;
}

/** Upper bound of the random delay before checking for changes of another gateway. */
const longestWaitMs = 80;

/**
 * Checks for operations after each change, and every half lease for those that other gateways have abandoned. A check does
 * not write; a claim is only tried if it would do something.
 * @param run starts to run a claimed operation, and returns immediately
 * @param onStore called with the error when the store fails, which is then retried later; with undefined when it answers
 */
export function createClaims(
  store: Pick<Store, "run" | "subscribe" | "isShared">,
  leases: Leases,
  leaseMs: number,
  argsNow: () => ClaimArgs,
  run: (claimed: ClaimedOperation, sinceMs: number) => void,
  onStore: (error: unknown) => void,
): Claims {
  let isRequested = false;
  let isOpen = false;
  let polling: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let soon: NodeJS.Timeout | undefined;
  let unsubscribe = () => {};

  /**
   * Delays the check at random: if all gateways checked at once, all except one would fail to claim the same operation. The
   * gateway that made the change calls `wake` directly.
   */
  function wakeSoon(): void {
    soon ??= setTimeout(wake, store.isShared ? longestWaitMs * Math.random() : 0).unref();
  }

  function wake(): void {
    clearTimeout(soon);
    soon = undefined;
    isRequested = true;
    if (polling === undefined && isOpen) {
      polling = pollWhileRequested().finally(() => {
        polling = undefined;
        if (isRequested) {
          wake();
        }
      });
    }
  }

  async function pollWhileRequested(): Promise<void> {
    try {
      while (isRequested && isOpen) {
        isRequested = false;
        await poll();
      }
    } catch (error) {
      isRequested = false;
      if (!hasReason(error, hostReasons.SHUTTING_DOWN)) {
        onStore(error);
      }
    }
  }

  async function poll(): Promise<void> {
    const { isDue, cancelledIds } = await store.run("operations.poll", argsNow());
    onStore(undefined);
    leases.cancel(cancelledIds);
    for (let isMore = isDue; isMore && isOpen; ) {
      const sinceMs = performance.now();
      const claimed = await store.run("operations.claim", argsNow());
      isMore = claimed !== undefined;
      if (claimed !== undefined) {
        run(claimed, sinceMs);
      }
    }
  }

  return {
    begin() {
      isOpen = true;
      unsubscribe = store.subscribe("operations", wakeSoon);
      timer = setInterval(wake, leaseMs / 2).unref();
      wake();
    },
    wake,
    async close() {
      isOpen = false;
      unsubscribe();
      clearInterval(timer);
      clearTimeout(soon);
      await polling;
    },
  };
}
