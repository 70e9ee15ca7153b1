import { InfraError } from "../../adapters/host/infra-error.ts";
import type { ClaimArgs } from "../store/operation-claims.ts";
import type { ResultOf, Store } from "../store/store.ts";
import type { Leases } from "./lease.ts";

export type ClaimedOperation = NonNullable<ResultOf<"operations.claim">>;

/** Claims operations as long as there are some for this gateway. */
export interface Claims {
  begin(): void;
  /** Looks again: there may be room. */
  wake(): void;
  /** Claims no more; resolves once no claim is under way. */
  close(): Promise<void>;
}

/** How long a gateway waits to look for what another one has changed. */
const longestWaitMs = 80;

/**
 * Looks when something has changed, and every half lease for those that their gateways have left. Looking writes nothing;
 * a claim is tried only where it would do something.
 * @param run begins to run what was claimed, and returns at once
 * @param onStore told why the store did not answer, after which it looks again later; undefined: it did
 */
export function createClaims(
  store: Pick<Store, "run" | "subscribe" | "isShared">,
  leases: Leases,
  leaseMs: number,
  argsNow: () => ClaimArgs,
  run: (claimed: ClaimedOperation, sinceMs: number) => void,
  onStore: (error: unknown) => void,
): Claims {
  let isWanted = false;
  let isOpen = false;
  let looking: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let soon: NodeJS.Timeout | undefined;
  let unsubscribe = () => {};

  /** Whoever has made the change looks at once; if all did, all but one would try in vain to claim the same. */
  function wakeSoon(): void {
    soon ??= setTimeout(wake, store.isShared ? longestWaitMs * Math.random() : 0).unref();
  }

  function wake(): void {
    clearTimeout(soon);
    soon = undefined;
    isWanted = true;
    if (looking === undefined && isOpen) {
      looking = lookWhileWanted().finally(() => {
        looking = undefined;
        if (isWanted) {
          wake();
        }
      });
    }
  }

  async function lookWhileWanted(): Promise<void> {
    try {
      while (isWanted && isOpen) {
        isWanted = false;
        await look();
      }
    } catch (error) {
      isWanted = false;
      if (!(error instanceof InfraError && error.reason === "SHUTTING_DOWN")) {
        onStore(error);
      }
    }
  }

  async function look(): Promise<void> {
    const { isDue, cancelledIds } = await store.run("operations.look", argsNow());
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
      await looking;
    },
  };
}
