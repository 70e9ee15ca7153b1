import type { IdempotencyKeysTable } from "./schema.ts";
import type { TransactionContext } from "./transaction.ts";

/** Which key: what the table's rows are found by. */
export type KeyRow = Pick<IdempotencyKeysTable, "caller" | "method" | "key_hash">;

/** What a key is found to be. */
export type TakenKey =
  /** It was free, and is the instance's now. */
  | { readonly state: "taken" }
  | { readonly state: "running" }
  | { readonly state: "done"; readonly result: Uint8Array }
  /** It stands for another request. */
  | { readonly state: "reused" }
  /** Who had it let the lease pass without a result. */
  | { readonly state: "lost" };

/** Calls that were made with a key, and their results. */
export const idempotencyTransactions = {
  /** Takes a key for a while, unless it is taken. */
  async "idempotency.take"(
    { db, nowMs }: TransactionContext,
    args: { key: KeyRow; requestHash: Uint8Array; instanceId: string; leaseMs: number; keepMs: number },
  ): Promise<TakenKey> {
    const { key, requestHash, instanceId, leaseMs, keepMs } = args;
    const row = await db
      .selectFrom("idempotency_keys")
      .selectAll()
      .where(({ and }) => and(key))
      .executeTakeFirst();
    const isLeased = row?.state === "running" && row.lease_until > nowMs;
    if (row !== undefined && (isLeased || row.expires_at > nowMs)) {
      if (Buffer.compare(row.request_hash, requestHash) !== 0) {
        return { state: "reused" };
      }
      if (row.result_sealed !== null) {
        return { state: "done", result: new Uint8Array(row.result_sealed) };
      }
      return { state: isLeased ? "running" : "lost" };
    }
    const taken = {
      request_hash: requestHash,
      state: "running",
      instance_id: instanceId,
      lease_until: nowMs + leaseMs,
      result_sealed: null,
      created_at: nowMs,
      expires_at: nowMs + keepMs,
    };
    await db
      .insertInto("idempotency_keys")
      .values({ ...key, ...taken })
      .onConflict((conflict) => conflict.columns(["caller", "method", "key_hash"]).doUpdateSet(taken))
      .execute();
    return { state: "taken" };
  },

  /** Takes the keys for a while longer. */
  async "idempotency.renew"(
    { db, nowMs }: TransactionContext,
    { keys, instanceId, leaseMs }: { keys: readonly KeyRow[]; instanceId: string; leaseMs: number },
  ) {
    for (const key of keys) {
      await db
        .updateTable("idempotency_keys")
        .set({ lease_until: nowMs + leaseMs })
        .where(({ and }) => and({ ...key, instance_id: instanceId, state: "running" }))
        .execute();
    }
  },

  /** Keeps the result of a call whose key the instance has; returns whether it still had it. */
  async "idempotency.keep"(
    { db, notify }: TransactionContext,
    { key, instanceId, result }: { key: KeyRow; instanceId: string; result: Uint8Array },
  ) {
    const { numUpdatedRows } = await db
      .updateTable("idempotency_keys")
      .set({ state: "done", result_sealed: result })
      .where(({ and }) => and({ ...key, instance_id: instanceId, state: "running" }))
      .executeTakeFirst();
    notify("idempotency");
    return { ok: numUpdatedRows > 0n };
  },

  /** Sets a key free, so that the next call with it is made. */
  async "idempotency.forget"(
    { db, notify }: TransactionContext,
    { key, instanceId }: { key: KeyRow; instanceId: string },
  ) {
    await db
      .deleteFrom("idempotency_keys")
      .where(({ and }) => and({ ...key, instance_id: instanceId, state: "running" }))
      .execute();
    notify("idempotency");
  },

  /** Removes keys whose time is over, `limit` at most; returns how many. */
  async "idempotency.purge"({ db, nowMs }: TransactionContext, { limit }: { limit: number }) {
    const expired = await db
      .selectFrom("idempotency_keys")
      .select(["caller", "method", "key_hash"])
      .where("expires_at", "<=", nowMs)
      .where(({ or, eb }) => or([eb("state", "=", "done"), eb("lease_until", "<=", nowMs)]))
      .limit(limit)
      .execute();
    for (const key of expired) {
      await db
        .deleteFrom("idempotency_keys")
        .where(({ and }) => and(key))
        .execute();
    }
    return { count: expired.length };
  },
};
