import type { Kysely } from "kysely";
import { InfraError } from "../../adapters/host/infra-error.ts";
import type { RunSql } from "./postgres-client.ts";
import type { Schema } from "./schema.ts";
import type { Topic, Transaction } from "./transaction.ts";

/** The channel of NOTIFY; its payload is a topic and who sent it. */
export const channel = "hostplane";

/** A connection that is ours for now. */
export interface PostgresConnection {
  readonly run: RunSql;
  readonly db: Kysely<Schema>;
}

/** What a committed transaction leaves. */
export interface Committed {
  readonly result: unknown;
  readonly topics: ReadonlySet<Topic>;
}

const begin =
  "begin isolation level serializable; select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms";

/**
 * Runs a transaction once. When it throws, the transaction was not committed and is still open, but for
 * STORE_UNAVAILABLE from the commit, after which nobody knows.
 * @param sender who the notifications are from
 */
export async function runSerializable(
  { run, db }: PostgresConnection,
  transaction: Transaction<unknown, unknown>,
  args: unknown,
  sender: string,
): Promise<Committed> {
  const topics = new Set<Topic>();
  const [, clock] = (await run(begin)) as [unknown, { rows: { now_ms: number }[] }];
  const nowMs = clock.rows[0]?.now_ms ?? 0;
  const result = await transaction({ db, nowMs, notify: (topic) => void topics.add(topic) }, args);
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
      const message = "the database was lost during a commit; whether it was kept is not known";
      throw new InfraError(error.reason, message, { cause: error.cause, retryAfterMs: 1000 });
    }
    throw error;
  }
  const { command } = (Array.isArray(answer) ? answer.at(-1) : answer) as { command: string };
  // The commit of a transaction with a failed query is no error, but "ROLLBACK".
  if (command !== "COMMIT") {
    throw new Error(`the transaction went on after a failed query, and ended with ${command}`);
  }
}
