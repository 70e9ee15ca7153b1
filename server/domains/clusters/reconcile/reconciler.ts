import { AsyncLocalStorage } from "node:async_hooks";
import { backOffMs } from "../../../../adapters/host/back-off.ts";
import { hasReason, InfraError } from "../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import type { ClaimedCluster } from "../store/passes.ts";
import { holdLease } from "./pass-lease.ts";
import { reconcileCluster } from "./reconcile-cluster.ts";
import { createReconcileTools } from "./reconcile-tools.ts";
import type { ReconcilerOptions } from "./reconciler-options.ts";

/** Brings clusters into the state of their specs, and keeps them there. */
export interface Reconciler {
  begin(): void;
  /** Makes the reconciler check for due clusters. */
  wake(): void;
  /** Waits for the calls in progress, starts no further ones, and releases the clusters. */
  close(): Promise<void>;
}

const passesAtOnce = 8;
/** Number of consecutive failed passes after which the last status of a cluster is no longer reliable. */
const patience = 3;
/**
 * A random delay up to this limit. A change wakes all gateways although one is enough, and a batch of changes needs only one
 * wake-up.
 */
const wakeWithinMs = { alone: 10, shared: 100 };

/**
 * Creates the reconciler, idle until `begin`. Several gateways on one store share the clusters by leases of `settings.leaseMs`.
 */
export function createReconciler(options: ReconcilerOptions): Reconciler {
  const { store, maas, settings, instanceId, log, boundary } = options;
  const { leaseMs } = settings;
  const tools = createReconcileTools(options);
  const closing = new AbortController();
  const running = new Set<Promise<void>>();
  /** Number of consecutive failed passes of a cluster, by its uid. */
  const failures = new Map<string, number>();
  // Passes run outside the async context of the call that happened to trigger them.
  const outside = AsyncLocalStorage.snapshot();
  let isOpen = false;
  let isRequested = false;
  let claiming: Promise<void> | undefined;
  let soon: NodeJS.Timeout | undefined;
  let later: NodeJS.Timeout | undefined;
  let outages = 0;
  let unsubscribe = () => {};

  function wake(): void {
    isRequested = true;
    if (claiming === undefined && isOpen) {
      claiming = outside(claimWhileRequested).finally(() => {
        claiming = undefined;
        if (isRequested) {
          wake();
        }
      });
    }
  }

  function wakeSoon(): void {
    const withinMs = store.isShared ? wakeWithinMs.shared : wakeWithinMs.alone;
    soon ??= setTimeout(() => {
      soon = undefined;
      wake();
    }, withinMs * Math.random()).unref();
  }

  function wakeLater(ms: number): void {
    clearTimeout(later);
    later = setTimeout(wake, ms).unref();
  }

  async function claimWhileRequested(): Promise<void> {
    while (isRequested && isOpen) {
      isRequested = false;
      // The end of a pass calls `wake` again.
      while (isOpen && running.size < passesAtOnce && (await claimNext())) {}
    }
  }

  /** @returns whether there may be another due cluster */
  async function claimNext(): Promise<boolean> {
    const sinceMs = performance.now();
    try {
      const { pass, nextDueInMs } = await store.run("clusters.claim", {
        instanceId,
        leaseMs,
        backend: maas.url,
        isAlone: !store.isShared,
      });
      outages = 0;
      // A gateway that dies wakes no other, so poll at least once per lease.
      wakeLater(Math.min(nextDueInMs ?? leaseMs, leaseMs));
      if (pass === undefined) {
        return false;
      }
      start(pass, sinceMs);
      return true;
    } catch (error) {
      outages += 1;
      if (outages === 1 && !isShutDown(error)) {
        log.warn("cannot reconcile clusters: the store does not respond; retrying", error);
      }
      wakeLater(backOffMs(outages, { firstMs: 500, longestMs: leaseMs }));
      return false;
    }
  }

  function start(claimed: ClaimedCluster, sinceMs: number): void {
    const ended = runPass(claimed, sinceMs)
      .catch((error: unknown) =>
        log.warn(`cluster ${claimed.cluster.name}: failed to store the end of its pass`, error),
      )
      .then(() => {
        running.delete(ended);
        wake();
      });
    running.add(ended);
  }

  async function runPass(claimed: ClaimedCluster, sinceMs: number): Promise<void> {
    const { cluster, fence } = claimed;
    const { name, uid } = cluster;
    const fenced = { name, uid, owner: instanceId, fence };
    const lease = holdLease(() => store.run("clusters.renew", { fenced, leaseMs }), leaseMs, sinceMs);
    try {
      const end = await reconcileCluster(tools, claimed, sinceMs, lease, closing.signal);
      failures.delete(uid);
      if (end !== "gone") {
        await boundary?.("before settle");
        await store.run("clusters.settle", { fenced, ...end });
        await boundary?.("after settle");
      }
    } catch (error) {
      if (closing.signal.aborted) {
        await store.run("clusters.yieldPass", { fenced });
      } else if (!lease.isHeld()) {
        log.info?.(`cluster ${name} was left to another gateway or a later pass`);
      } else {
        await giveUp(claimed, fenced, error);
      }
    } finally {
      lease.drop();
    }
  }

  /** Ends a failed pass. The failure may persist, so the next pass is delayed. */
  async function giveUp(
    { cluster }: ClaimedCluster,
    fenced: { name: string; uid: string; owner: string; fence: number },
    error: unknown,
  ): Promise<void> {
    const count = (failures.get(cluster.uid) ?? 0) + 1;
    failures.set(cluster.uid, count);
    log.warn(`cluster ${cluster.name} cannot be reconciled`, error);
    const why = error instanceof InfraError ? error.message : "internal error of the gateway";
    const message = `Reconciling failed: ${why}; see the gateway's log`.slice(0, 500);
    const isOver = count >= patience && !cluster.isDeleting;
    const status = isOver ? ("error" as const) : cluster.status;
    const dueInMs = Math.ceil(
      backOffMs(count, { firstMs: settings.pollMs, longestMs: 12 * settings.pollMs }),
    );
    await store.run("clusters.settle", { fenced, status, message, dueInMs });
  }

  return {
    begin() {
      isOpen = true;
      unsubscribe = store.subscribe("clusters", wakeSoon);
      wake();
    },
    wake,
    async close() {
      isOpen = false;
      unsubscribe();
      clearTimeout(soon);
      closing.abort(
        new InfraError(hostReasons.SHUTTING_DOWN, "the gateway is stopping; the cluster is reconciled later"),
      );
      await claiming;
      clearTimeout(later);
      await Promise.all(running);
      await tools.connections.close();
    },
  };
}

function isShutDown(error: unknown): boolean {
  return hasReason(error, hostReasons.SHUTTING_DOWN);
}
