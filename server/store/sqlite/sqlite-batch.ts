import type { DatabaseSync } from "node:sqlite";
import type { Kysely } from "kysely";
import type { Schema } from "../schema.ts";
import type { Topic, Transaction, Transactions } from "../transaction.ts";
import { infraErrorFromSqlite, isInputOutputError } from "./sqlite-errors.ts";

/** A transaction in the queue. */
export interface WaitingTransaction {
  readonly name: string;
  readonly args: unknown;
}

/** Outcome of one transaction. */
export type Outcome =
  | { readonly ok: true; readonly result: unknown; readonly topics: ReadonlySet<Topic> }
  | { readonly ok: false; readonly error: unknown };

/**
 * Runs the transactions one after another and commits them together, so that they share one sync to disk. A transaction that
 * throws is rolled back alone. If the commit fails, or SQLite rolls back the whole transaction, all have failed. Outcomes are
 * in the order of the transactions.
 */
export async function runBatch(
  database: DatabaseSync,
  db: Kysely<Schema>,
  transactions: Transactions,
  batch: readonly WaitingTransaction[],
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  let isCommitting = false;
  try {
    database.exec("begin immediate");
    for (const waiting of batch) {
      outcomes.push(await runOne(database, db, transactions, waiting));
    }
    isCommitting = true;
    database.exec("commit");
    return outcomes;
  } catch (error) {
    if (database.isTransaction) {
      database.exec("rollback");
    }
    const fault = infraErrorFromSqlite(error, "transactions could not be committed");
    // The commit record may be on disk although its sync failed, and take effect after a crash.
    const failed = isCommitting && isInputOutputError(error) ? fault.withEffect("possible") : fault;
    return batch.map(() => ({ ok: false, error: failed }));
  }
}

async function runOne(
  database: DatabaseSync,
  db: Kysely<Schema>,
  transactions: Transactions,
  { name, args }: WaitingTransaction,
): Promise<Outcome> {
  const topics = new Set<Topic>();
  database.exec("savepoint one");
  try {
    const transaction = transactions[name] as Transaction<unknown, unknown>;
    const context = {
      db,
      nowMs: Date.now(),
      notify: (topic: Topic) => void topics.add(topic),
      // Transactions run one after another.
      lockEvents: async () => {},
    };
    const result = await transaction(context, args);
    database.exec("release one");
    return { ok: true, result, topics };
  } catch (error) {
    if (!database.isTransaction) {
      throw error;
    }
    database.exec("rollback to one");
    database.exec("release one");
    return { ok: false, error: infraErrorFromSqlite(error, `the transaction ${name} failed`) };
  }
}
