import type { Kysely } from "kysely";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { Schema } from "../schema.ts";
import type { Topic, Transaction } from "../transaction.ts";
import type { RunSql } from "./postgres-client.ts";

/** Channel of NOTIFY. The payload is a topic and the sender. */
export const channel = "hostplane";

/** A connection that is exclusively ours for now. */
export interface PostgresConnection {
  readonly run: RunSql;
  readonly db: Kysely<Schema>;
}

/** Result of a committed transaction. */
export interface Committed {
  readonly result: unknown;
  readonly topics: ReadonlySet<Topic>;
}

/** Options of `runSerializable`. */
export interface RunOptions {
  /** Sender of the notifications. */
  readonly sender: string;
  /**
   * Whether to run exclusively: waits until no transaction runs on any replica, and blocks others, so that there are no
   * conflicts.
   */
  readonly isAlone: boolean;
}

/**
 * Every transaction locks the table `meta`, either shared or exclusively. LOCK takes no snapshot, so that after the wait the
 * transaction sees what earlier ones have committed
 * (https://www.postgresql.org/docs/current/sql-lock.html).
 */
function beginWith(lock: "row exclusive" | "exclusive"): string {
  return `begin isolation level serializable; lock table meta in ${lock} mode; select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms`;
}

const beginBesideOthers = beginWith("row exclusive");
const beginAlone = beginWith("exclusive");

/** Locked until the end of the transaction. The number is unique in this database. */
const lockEvents = "select pg_advisory_xact_lock(7408330521)";

/**
 * Runs a transaction once. If it throws, the transaction was not committed and is still open. The exception is
 * STORE_UNAVAILABLE from the commit: the outcome is then unknown.
 */
export async function runSerializable(
  { run, db }: PostgresConnection,
  transaction: Transaction<unknown, unknown>,
  args: unknown,
  { sender, isAlone }: RunOptions,
): Promise<Committed> {
  const topics = new Set<Topic>();
  const answers = (await run(isAlone ? beginAlone : beginBesideOthers)) as { rows: { now_ms: number }[] }[];
  const nowMs = answers.at(-1)?.rows[0]?.now_ms ?? 0;
  const context = {
    db,
    nowMs,
    notify: (topic: Topic) => void topics.add(topic),
    lockEvents: async () => void (await run(lockEvents)),
  };
  const result = await transaction(context, args);
  const notifications = [...topics].map((topic) => `notify ${channel}, '${topic} ${sender}'`);
  await commit(run, notifications);
  return { result, topics };
}

async function commit(run: RunSql, notifications: readonly string[]): Promise<void> {
  let answer: unknown;
  try {
    answer = await run([...notifications, "commit"].join("; "));
  } catch (error) {
    if (error instanceof InfraError) {
      const message =
        "the connection to the database was lost during a commit; whether the change was stored is unknown";
      throw new InfraError(error.declared, message, { cause: error.cause, effect: "possible" });
    }
    throw error;
  }
  const { command } = (Array.isArray(answer) ? answer.at(-1) : answer) as { command: string };
  // A commit after a failed query does not fail, but answers "ROLLBACK".
  if (command !== "COMMIT") {
    throw new Error(`the transaction continued after a failed query, and ended with ${command}`);
  }
}
