import { Client } from "pg";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import {
  assertDatabaseFacts,
  type DatabaseFacts,
  type Expectations,
  readDatabaseFacts,
} from "../database-facts.ts";
import { migrate } from "../migrate.ts";
import type { Migration } from "../migrations/migration.ts";
import { storeReasons } from "../reasons.ts";
import { postgresDialect } from "../sql-dialect.ts";
import { kyselyOnConnection, patientConfig, sqlRunner } from "./postgres-client.ts";
import { isDuplicateTable, type PostgresErrors } from "./postgres-errors.ts";
import type { PostgresConnection } from "./postgres-transaction.ts";

/** Any number that no other program is likely to lock: "host" in ASCII. */
const migrationLock = 0x686f7374;

/**
 * Checks that the database is the expected one, and migrates it to the version of the program. Gateways that do so at the
 * same time wait for each other. Returns messages for the operator.
 * @throws InfraError the errors of `assertDatabaseFacts`, STORE_NOT_EMPTY, STORE_UNAVAILABLE
 */
export function preparePostgres(
  url: string,
  errors: PostgresErrors,
  expectations: Expectations,
  migrations: readonly Migration[],
): Promise<readonly string[]> {
  return withMigrationLock(url, errors, async (connection) => {
    const facts = await readDatabaseFacts(connection.db, postgresDialect);
    assertDatabaseFacts(facts, expectations, migrations.length);
    if (facts?.schemaVersion === migrations.length) {
      return [];
    }
    await migratePostgres(connection, errors, expectations, migrations, facts);
    return [
      facts === undefined
        ? `created the tables of ${errors.shownAs}`
        : `migrated ${errors.shownAs} to schema version ${migrations.length}`,
    ];
  });
}

/** Runs `migrate` on PostgreSQL, within the transaction of `withMigrationLock`. */
export async function migratePostgres(
  { run, db }: PostgresConnection,
  { shownAs }: PostgresErrors,
  expectations: Pick<Expectations, "kind" | "keyCheck">,
  migrations: readonly Migration[],
  facts: DatabaseFacts | undefined,
): Promise<void> {
  const clock = (await run(
    "select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms",
  )) as {
    rows: { now_ms: number }[];
  };
  const nowMs = clock.rows[0]?.now_ms ?? 0;
  try {
    await migrate({ db, dialect: postgresDialect, nowMs, migrations, facts, expectations });
  } catch (error) {
    if (isDuplicateTable(error)) {
      const message = `the database ${shownAs} contains tables of another program; hostplane needs an empty one`;
      throw new InfraError(storeReasons.STORE_NOT_EMPTY, message);
    }
    throw error;
  }
}

/** Runs `work` in one transaction on a dedicated connection, one gateway at a time. An error rolls everything back. */
export async function withMigrationLock<Result>(
  url: string,
  errors: PostgresErrors,
  work: (connection: PostgresConnection) => Promise<Result>,
): Promise<Result> {
  try {
    const client = new Client(patientConfig(url));
    // A lost connection is reported by the next query.
    client.on("error", () => undefined);
    const run = sqlRunner(client, errors);
    try {
      await client.connect();
      // Not serializable: changes that another gateway committed while we waited for the lock must be visible.
      await run("begin isolation level read committed");
      await run(`select pg_advisory_xact_lock(${migrationLock})`);
      const result = await work({ run, db: kyselyOnConnection(run) });
      await run("commit");
      return result;
    } finally {
      await client.end().catch(() => undefined);
    }
  } catch (error) {
    throw openingError(error, errors);
  }
}

/** Adds the cause to the message: while the store is being opened, no client can see it. */
function openingError(error: unknown, errors: PostgresErrors): InfraError {
  const known = errors.infraError(error, "");
  if (!known.is(storeReasons.STORE_UNAVAILABLE, hostReasons.INTERNAL)) {
    return known;
  }
  const cause = known.cause instanceof Error ? known.cause : errors.plainError(error);
  const message = `the database ${errors.shownAs} cannot be used: ${cause.message}`;
  return new InfraError(storeReasons.STORE_UNAVAILABLE, message, { cause, retryAfterMs: 1000 });
}
