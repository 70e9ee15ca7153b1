import type { Kysely } from "kysely";
import type { Schema } from "./schema.ts";

/** What a commit may be about; who subscribed to it is called after. */
export type Topic = "auth" | "audit" | "idempotency" | "operations" | "events" | "clusters";

/** What a transaction works with. */
export interface TransactionContext {
  /** Queries within the transaction. Must not be kept, nor used to begin another transaction. */
  readonly db: Kysely<Schema>;
  /** The database's clock when the transaction began. */
  readonly nowMs: number;
  /**
   * Once the transaction is committed, calls who subscribed to the topic, here and on every other replica, and counts it as
   * a change of the call that asked for it (`note-committed.ts`).
   */
  notify(topic: Topic): void;
  /**
   * Waits until no other transaction that has called it is open. Who writes events calls it first, so that their numbers
   * grow in the order of the commits.
   */
  lockEvents(): Promise<void>;
}

/**
 * Reads and writes as if it ran alone, and is kept as a whole or not at all. It may run again from its
 * beginning when PostgreSQL asks for that, so it does nothing but queries. Arguments and results are plain
 * data that can be structured-cloned. A refusal is a result (`{ ok: false, why: "exists" }`); what it
 * throws is a fault, and it does not catch what a query throws: PostgreSQL runs no query after a failed one.
 */
export type Transaction<Args, Result> = (context: TransactionContext, args: Args) => Promise<Result>;

/** The type of a registry of transactions, by name. */
export type Transactions = Readonly<Record<string, Transaction<never, unknown>>>;

/** With `dryRun` everything is checked and nothing is written; the result tells what would be. */
export interface DryRun {
  readonly dryRun?: boolean;
}
