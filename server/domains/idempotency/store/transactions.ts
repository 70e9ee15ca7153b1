import type { TransactionContext } from "../../../store/transaction.ts";
import type { IdempotencyKeysTable } from "./tables.ts";

/** The primary key of a row. */
export type KeyRow = Pick<IdempotencyKeysTable, "caller" | "method" | "key_hash">;

/** Result of taking a key. */
export type TakenKey =
  /** It was free, and now belongs to the instance. */
  | { readonly state: "taken" }
  | { readonly state: "running" }
  | { readonly state: "done"; readonly result: Uint8Array }
  /** It was used with a different request. */
  | { readonly state: "reused" }
  /** Its owner's lease expired without a result. */
  | { readonly state: "lost" };

/** Idempotency keys of calls, and the results of those calls. */
export const idempotencyTransactions = {
  /** Takes a key for the duration of a lease, unless it is in use. */
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

  /** Extends the leases on keys. */
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

  /** Stores the result of a call if the instance still owns its key; `ok` reports whether it did. */
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

  /** Frees a key, so that the next call with it is executed. */
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

  /** Removes up to `limit` expired keys; returns their number. */
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

type IdempotencyTransactions = typeof idempotencyTransactions;

declare module "../../../store/store.ts" {
  interface GatewayTransactions extends IdempotencyTransactions {}
}
