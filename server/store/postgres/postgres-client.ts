import { Kysely, PostgresDialect, type PostgresPool } from "kysely";
import { type ClientBase, type ClientConfig, DatabaseError, types } from "pg";
import type { Schema } from "../schema.ts";
import { type PostgresErrors, storeUnavailable } from "./postgres-errors.ts";

/** Type OIDs of PostgreSQL's catalog. */
const { INT8, NUMERIC, BYTEA } = types.builtins;

/** Parses integers as numbers (all of ours are below 2^53; sums of them are NUMERIC), and bytes as Uint8Array. */
const typeParsers: ClientConfig["types"] = {
  getTypeParser: ((id: number, format?: "text" | "binary") => {
    if (id === INT8 || id === NUMERIC) {
      return Number;
    }
    const parse = format === undefined ? types.getTypeParser(id) : types.getTypeParser(id, format as "text");
    return id === BYTEA ? (text: string) => new Uint8Array(parse(text)) : parse;
  }) as typeof types.getTypeParser,
};

/** Configuration of all connections, including those for long queries. */
export function patientConfig(url: string): ClientConfig {
  return {
    connectionString: url,
    application_name: "hostplane",
    connectionTimeoutMillis: 5000,
    keepAlive: true,
    types: typeParsers,
  };
}

/** Configuration of connections for short queries: the server ends a statement after 10 s, the client gives up after 15 s. */
export function boundedConfig(url: string): ClientConfig {
  return {
    ...patientConfig(url),
    statement_timeout: 10_000,
    idle_in_transaction_session_timeout: 15_000,
    query_timeout: 15_000,
  };
}

/** Runs SQL on one connection. A text may contain several statements if it has no parameters. */
export type RunSql = (text: string, values?: unknown[]) => Promise<unknown>;

/**
 * Runs the queries of one connection one after another, as `pg` requires. Errors of the server are thrown as `pg` throws
 * them; a lost connection is thrown as STORE_UNAVAILABLE.
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

/** Returns Kysely for one connection. The connection's owner begins and ends the transactions. */
export function kyselyOnConnection(run: RunSql): Kysely<Schema> {
  const client = { query: run, release: () => undefined };
  const pool = { connect: async () => client, end: async () => undefined } as unknown as PostgresPool;
  return new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
}
