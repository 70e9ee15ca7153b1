import { sql } from "kysely";
import type { TransactionContext } from "../../../store/transaction.ts";
import { type FencedCluster, heldCluster } from "./fence.ts";
import { publishClusterEvent } from "./machine-events.ts";
import type { ClusterStatusName } from "./records.ts";
import { type ClusterWithSlots, readClusters, readLiveSlots } from "./rows.ts";

/** A cluster that a gateway has claimed exclusively, until its lease expires. */
export interface ClaimedCluster extends ClusterWithSlots {
  readonly secretsSealed: Uint8Array;
  readonly fence: number;
  /** Current time of the store's clock. */
  readonly nowMs: number;
}

/** Result of a reconciliation pass. */
export interface PassResult {
  readonly fenced: FencedCluster;
  readonly status: ClusterStatusName;
  readonly message: string;
  /** Set when the whole spec is in place. */
  readonly hasRun?: true;
  /** Generation that is in place. */
  readonly settledGeneration?: number;
  /** Delay before the next pass; one hour at most. */
  readonly dueInMs: number;
}

interface Kept {
  readonly ok: boolean;
}

/** Upper bound of leases and waits. A time further ahead was written while a clock was wrong, and is ignored. */
const maxWaitMs = 3_600_000;

/** The gateway that claims, and which clusters it may claim. */
export interface ClusterClaimant {
  readonly instanceId: string;
  /** One hour at most. */
  readonly leaseMs: number;
  readonly backend: string;
  /** True when no other gateway uses the database, so that any other owner is stale. */
  readonly isAlone?: boolean;
}

/** SQL for the time from which a gateway may claim a cluster. */
function readyAt(nowMs: number, { instanceId, isAlone = false }: ClusterClaimant) {
  const leaseEnd = isAlone
    ? sql`case when owner <> ${instanceId} then 0 else lease_until end`
    : sql`lease_until`;
  const readyAt = sql`case when owner is null then due_at else ${leaseEnd} end`;
  return sql<number>`case when ${readyAt} > ${nowMs + maxWaitMs} then 0 else ${readyAt} end`;
}

/** Reconciliation passes: each gateway claims one cluster at a time. */
export const clusterPassTransactions = {
  /**
   * Claims the cluster of a backend that has been due longest, if one is due.
   * @returns also the delay until another one is due; undefined: there is no other
   */
  async "clusters.claim"(
    context: TransactionContext,
    claimant: ClusterClaimant,
  ): Promise<{ readonly pass?: ClaimedCluster; readonly nextDueInMs: number | undefined }> {
    const { db, nowMs } = context;
    const { instanceId, leaseMs, backend } = claimant;
    const rows = await db
      .selectFrom("clusters")
      .select(["name", readyAt(nowMs, claimant).as("ready_at")])
      .where("backend", "=", backend)
      .orderBy("ready_at")
      .orderBy("name")
      .limit(2)
      .execute();
    const next = rows.map(({ name, ready_at }) => ({ name, inMs: Math.max(0, Number(ready_at) - nowMs) }));
    const [due, other] = next;
    if (due === undefined || due.inMs > 0) {
      return { nextDueInMs: due?.inMs };
    }
    const { secrets_sealed, fence } = await db
      .updateTable("clusters")
      // A change to the spec resets `due_at` to 0, which `clusters.settle` checks.
      .set(({ eb }) => ({
        owner: instanceId,
        fence: eb("fence", "+", 1),
        lease_until: nowMs + leaseMs,
        due_at: nowMs,
      }))
      .where("name", "=", due.name)
      .returning(["secrets_sealed", "fence"])
      .executeTakeFirstOrThrow();
    const [claimed] = await readClusters(context, [due.name]);
    return {
      ...(claimed && { pass: { ...claimed, secretsSealed: new Uint8Array(secrets_sealed), fence, nowMs } }),
      nextDueInMs: other?.inMs,
    };
  },

  /** Extends the lease on a cluster. */
  async "clusters.renew"(
    { db, nowMs }: TransactionContext,
    { fenced: { name, uid, owner, fence }, leaseMs }: { fenced: FencedCluster; leaseMs: number },
  ): Promise<Kept> {
    const { numUpdatedRows } = await db
      .updateTable("clusters")
      .set({ lease_until: nowMs + leaseMs })
      .where(({ and }) => and({ name, uid, owner, fence }))
      .executeTakeFirstOrThrow();
    return { ok: numUpdatedRows === 1n };
  },

  /**
   * Ends a pass: records the state of the cluster and releases the claim. If the spec changed since the claim, the status
   * that the change set is kept, and the cluster is due immediately.
   */
  async "clusters.settle"(context: TransactionContext, args: PassResult): Promise<Kept> {
    const { db, nowMs, notify } = context;
    const before = await heldCluster(context, args.fenced);
    if (before === undefined) {
      return { ok: false };
    }
    const isChanged = before.due_at === 0;
    const { status, message } = isChanged ? before : args;
    const found = {
      status,
      message,
      has_run: args.hasRun === true ? 1 : before.has_run,
      settled_generation: Math.max(before.settled_generation, args.settledGeneration ?? 0),
    };
    await db
      .updateTable("clusters")
      .set({
        ...found,
        owner: null,
        lease_until: 0,
        due_at: isChanged ? 0 : nowMs + Math.min(args.dueInMs, maxWaitMs),
      })
      .where("name", "=", before.name)
      .execute();
    const hasNewStatus = status !== before.status || message !== before.message;
    if (hasNewStatus) {
      const { name, generation } = before;
      await publishClusterEvent(context, "status", {
        name,
        status,
        message,
        generation,
        previousStatus: before.status,
      });
    }
    const isSettledNow = found.settled_generation !== before.settled_generation;
    if (hasNewStatus || isSettledNow || isChanged) {
      notify("clusters");
    }
    return { ok: true };
  },

  /** Releases a cluster whose pass was not completed, so that it can be claimed immediately. */
  async "clusters.yieldPass"(
    { db, notify }: TransactionContext,
    { fenced: { name, uid, owner, fence } }: { fenced: FencedCluster },
  ): Promise<void> {
    const { numUpdatedRows } = await db
      .updateTable("clusters")
      .set({ owner: null, lease_until: 0, due_at: 0 })
      .where(({ and }) => and({ name, uid, owner, fence }))
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 1n) {
      notify("clusters");
    }
  },

  /** Removes a cluster that is being deleted and has only released machines. The history of its machines is kept. */
  async "clusters.forget"(context: TransactionContext, { fenced }: { fenced: FencedCluster }): Promise<Kept> {
    const { db, notify } = context;
    const cluster = await heldCluster(context, fenced);
    if (cluster?.is_deleting !== 1 || (await readLiveSlots(context, cluster.uid)).length > 0) {
      return { ok: false };
    }
    const { name, status, message, generation } = cluster;
    await db.deleteFrom("cluster_pools").where("cluster", "=", name).execute();
    await db.deleteFrom("clusters").where("name", "=", name).execute();
    await publishClusterEvent(context, "removed", {
      name,
      status,
      message,
      generation,
      previousStatus: status,
    });
    notify("clusters");
    return { ok: true };
  },
};
