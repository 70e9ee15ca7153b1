import { Kysely, PostgresDialect, type PostgresPool } from "kysely";
import { type ClientBase, type ClientConfig, DatabaseError, types } from "pg";
import { type PostgresErrors, storeUnavailable } from "./postgres-errors.ts";
import type { Schema } from "./schema.ts";

/** Types of columns by their number in PostgreSQL's catalog. */
const { INT8, NUMERIC, BYTEA } = types.builtins;

/** Reads whole numbers as numbers (all of ours are below 2^53; sums of them are NUMERIC), and bytes as Uint8Array. */
const typeParsers: ClientConfig["types"] = {
  getTypeParser: ((id: number, format?: "text" | "binary") => {
    if (id === INT8 || id === NUMERIC) {
      return Number;
    }
    const parse = format === undefined ? types.getTypeParser(id) : types.getTypeParser(id, format as "text");
    return id === BYTEA ? (text: string) => new Uint8Array(parse(text)) : parse;
  }) as typeof types.getTypeParser,
};

/** For every connection, including those that may take their time. */
export function patientConfig(url: string): ClientConfig {
  return {
    connectionString: url,
    application_name: "hostplane",
    connectionTimeoutMillis: 5000,
    keepAlive: true,
    types: typeParsers,
  };
}

/** For connections whose queries are short: the server gives a statement up after 10 s, we the server after 15 s. */
export function boundedConfig(url: string): ClientConfig {
  return {
    ...patientConfig(url),
    statement_timeout: 10_000,
    idle_in_transaction_session_timeout: 15_000,
    query_timeout: 15_000,
  };
}

/** Runs SQL on one connection. Several statements without parameters may stand in one text. */
export type RunSql = (text: string, values?: unknown[]) => Promise<unknown>;

/**
 * Runs the queries of one connection one after the other, as `pg` wants it. What the server says is thrown as
 * `pg` throws it; that there is no server any more, as STORE_UNAVAILABLE.
 */
export function sqlRunner(client: ClientBase, { plainError }: PostgresErrors): RunSql {
  let previous: Promise<unknown> = Promise.resolve();
  return (text, values) => {
    const query = previous
      .then(() => client.query(text, values))
      .catch((error: unknown) => {
        throw error instanceof DatabaseError ? error : storeUnavailable(plainError(error));
      });
    previous = query.catch(() => undefined);
    return query;
  };
}

/** Kysely on one connection, whose transactions are begun and ended by who has the connection. */
export function kyselyOnConnection(run: RunSql): Kysely<Schema> {
  const client = { query: run, release: () => undefined };
  const pool = { connect: async () => client, end: async () => undefined } as unknown as PostgresPool;
  return new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
}
