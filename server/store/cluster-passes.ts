import { sql } from "kysely";
import { tellCluster } from "./cluster-events.ts";
import { type FencedCluster, heldCluster } from "./cluster-fence.ts";
import type { ClusterStatusName } from "./cluster-records.ts";
import { type ClusterWithSlots, readClusters, readLiveSlots } from "./cluster-rows.ts";
import type { TransactionContext } from "./transaction.ts";

/** A cluster that a gateway has to itself for a while. */
export interface ClaimedCluster extends ClusterWithSlots {
  readonly secretsSealed: Uint8Array;
  readonly fence: number;
  /** By the store's clock. */
  readonly nowMs: number;
}

/** What a pass has found. */
export interface PassResult {
  readonly fenced: FencedCluster;
  readonly status: ClusterStatusName;
  readonly message: string;
  /** Everything is in place, for the first time or again. */
  readonly hasRun?: true;
  /** The generation that is in place. */
  readonly settledGeneration?: number;
  /** When it is to be looked at next; an hour at most. */
  readonly dueInMs: number;
}

interface Kept {
  readonly ok: boolean;
}

/** Neither a lease nor a wait is longer: what lies further ahead was written while the clock was wrong, and counts no more. */
const maxWaitMs = 3_600_000;

/** Who claims. */
export interface ClusterClaimant {
  readonly instanceId: string;
  /** An hour at most. */
  readonly leaseMs: number;
  readonly backend: string;
  /** Nobody else uses the database: whoever else has a cluster is dead. */
  readonly isAlone?: boolean;
}

/** When a gateway may claim a cluster. */
function readyAt(nowMs: number, { instanceId, isAlone = false }: ClusterClaimant) {
  const leaseEnd = isAlone
    ? sql`case when owner <> ${instanceId} then 0 else lease_until end`
    : sql`lease_until`;
  const readyAt = sql`case when owner is null then due_at else ${leaseEnd} end`;
  return sql<number>`case when ${readyAt} > ${nowMs + maxWaitMs} then 0 else ${readyAt} end`;
}

/** Gateways look at clusters in turn, one at a time each. */
export const clusterPassTransactions = {
  /**
   * Claims that cluster of a backend which is due longest, if one is.
   * @returns also in how long another will be due; undefined: there is no other
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
      // That it is 0 again at the end says that something else is wanted since.
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

  /** Keeps a cluster for another lease. */
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
   * Ends a pass: writes down how the cluster is, and lets go of it. When something else is wanted of it since the claim,
   * its status stays as that has made it, and it is due at once.
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
    const isTold = status !== before.status || message !== before.message;
    if (isTold) {
      const { name, generation } = before;
      await tellCluster(context, "status", {
        name,
        status,
        message,
        generation,
        previousStatus: before.status,
      });
    }
    const isSettledNow = found.settled_generation !== before.settled_generation;
    if (isTold || isSettledNow || isChanged) {
      notify("clusters");
    }
    return { ok: true };
  },

  /** Lets go of a cluster that is not looked at to the end, so that it can be claimed at once. */
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

  /** Forgets a cluster that is wanted no more and all of whose machines are released; what is known of those stays. */
  async "clusters.forget"(context: TransactionContext, { fenced }: { fenced: FencedCluster }): Promise<Kept> {
    const { db, notify } = context;
    const cluster = await heldCluster(context, fenced);
    if (cluster?.is_deleting !== 1 || (await readLiveSlots(context, cluster.uid)).length > 0) {
      return { ok: false };
    }
    const { name, status, message, generation } = cluster;
    await db.deleteFrom("cluster_pools").where("cluster", "=", name).execute();
    await db.deleteFrom("clusters").where("name", "=", name).execute();
    await tellCluster(context, "removed", { name, status, message, generation, previousStatus: status });
    notify("clusters");
    return { ok: true };
  },
};
