import type { Kysely } from "kysely";
import type { Schema } from "./schema.ts";

/** Topic of a commit; its subscribers are called after the commit. */
export type Topic =
  | "auth"
  | "audit"
  | "idempotency"
  | "operations"
  | "events"
  | "clusters"
  | "fleet"
  | "hubs"
  | "keys";

/** The environment of a transaction. */
export interface TransactionContext {
  /** Queries within the transaction. Must not be kept, nor used to begin another transaction. */
  readonly db: Kysely<Schema>;
  /** Time of the database's clock when the transaction began. */
  readonly nowMs: number;
  /**
   * After the commit, calls the topic's subscribers here and on every other replica, and counts the commit as a change of the
   * call that requested it (`note-committed.ts`).
   */
  notify(topic: Topic): void;
  /**
   * Waits until no other transaction that has called it is open. Transactions that write events call it first, so that event
   * numbers increase in the order of the commits.
   */
  lockEvents(): Promise<void>;
}

/**
 * A transaction is isolated, and is committed as a whole or not at all. PostgreSQL may require it to run again from its
 * beginning, so it must have no side effects except queries. Arguments and results are plain data that can be
 * structured-cloned. A refusal is a result (`{ ok: false, why: "exists" }`); an error that it throws is a fault. It must not
 * catch errors of queries, since PostgreSQL rejects every query after a failed one.
 */
export type Transaction<Args, Result> = (context: TransactionContext, args: Args) => Promise<Result>;

/** Type of a registry of transactions, by name. */
export type Transactions = Readonly<Record<string, Transaction<never, unknown>>>;

/** With `dryRun` everything is checked and nothing is written; the result shows what would be written. */
export interface DryRun {
  readonly dryRun?: boolean;
}

/** How a change of existing records is made. */
export interface ChangeMode<Found> extends DryRun {
  /** What a dry run has returned: nothing is written, and RECORD_CHANGED returned, if the records have changed since. */
  readonly since?: Found;
}
