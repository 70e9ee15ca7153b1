import type { DatabaseSync } from "node:sqlite";
import { sql } from "kysely";
import { InfraError } from "../../adapters/host/infra-error.ts";
import type { StoreKind } from "./database-facts.ts";
import { migrations } from "./migrations/migrations.ts";
import { databaseFile } from "./open-store.ts";
import { createPostgresErrors } from "./postgres/postgres-errors.ts";
import { migratePostgres, withMigrationLock } from "./postgres/postgres-prepare.ts";
import type { PostgresConnection } from "./postgres/postgres-transaction.ts";
import { storeReasons } from "./reasons.ts";
import { postgresDialect } from "./sql-dialect.ts";
import { prepareSqlite } from "./sqlite/sqlite-prepare.ts";

/** Options of `copyStore`. */
export interface CopyOptions {
  /** Directory of the SQLite database. */
  readonly directory: string;
  /** URL of an empty PostgreSQL database. */
  readonly url: string;
  readonly kind: StoreKind;
  readonly keyCheck: string;
  readonly otherKeyChecks?: readonly string[];
}

/** Number of rows copied, by table. */
export type CopiedRows = ReadonlyMap<string, number>;

type Row = Record<string, unknown>;

/** Rows per INSERT: PostgreSQL accepts at most 65,535 values in one statement. */
const chunkSize = 500;

/**
 * Copies an SQLite database that no gateway uses into an empty PostgreSQL database, in one transaction. If the copy fails or
 * is killed, the target stays empty and the copy can be repeated. The source is first migrated to this version of the
 * program (after a backup), and otherwise left unchanged.
 * @throws InfraError STORE_NOT_EMPTY, and the errors of `openStore` for either database
 */
export async function copyStore(options: CopyOptions): Promise<CopiedRows> {
  const { directory, url, kind, keyCheck, otherKeyChecks = [] } = options;
  const file = databaseFile(directory);
  const expectations = { kind, keyCheck, otherKeyChecks, createIfMissing: false, shownAs: file };
  const { database } = await prepareSqlite(file, expectations, migrations);
  const errors = createPostgresErrors(url);
  try {
    return await withMigrationLock(url, errors, async (target) => {
      if (await postgresDialect.tableExists(target.db, "meta")) {
        const message = `the database ${errors.shownAs} already contains a store; use an empty one`;
        throw new InfraError(storeReasons.STORE_NOT_EMPTY, message);
      }
      await migratePostgres(target, errors, expectations, migrations, undefined);
      await target.db.deleteFrom("meta").execute();
      const copied = new Map<string, number>();
      for (const table of tablesOf(database)) {
        copied.set(table, await copyTable(database, target, table));
      }
      await continueCounting(database, target);
      return copied;
    });
  } finally {
    database.close();
  }
}

function tablesOf(database: DatabaseSync): string[] {
  const query =
    "select name from sqlite_master where type = 'table' and name not like 'sqlite\\_%' escape '\\'";
  return database
    .prepare(query)
    .all()
    .map(({ name }) => String(name));
}

async function copyTable(database: DatabaseSync, { db }: PostgresConnection, table: string): Promise<number> {
  const insert = async (rows: readonly Row[]) => {
    await db
      .insertInto(table as never)
      .values(rows as never)
      .execute();
  };
  let chunk: Row[] = [];
  for (const row of database.prepare(`select * from "${table}"`).iterate()) {
    chunk.push(row);
    if (chunk.length === chunkSize) {
      await insert(chunk);
      chunk = [];
    }
  }
  if (chunk.length > 0) {
    await insert(chunk);
  }
  const expected = Number(database.prepare(`select count(*) as count from "${table}"`).get()?.count);
  const found = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(db);
  const count = found.rows[0]?.count;
  if (count !== expected) {
    throw new Error(`only ${count} of the ${expected} rows of ${table} were copied`);
  }
  return expected;
}

/** Continues identity columns where SQLite would have, even if the row with the highest number no longer exists. */
async function continueCounting(database: DatabaseSync, { db }: PostgresConnection): Promise<void> {
  for (const { name, seq } of database.prepare("select name, seq from sqlite_sequence").all()) {
    await sql`
      select setval(pg_get_serial_sequence(table_name, column_name), ${Number(seq)}::bigint)
      from information_schema.columns
      where table_schema = current_schema() and table_name = ${String(name)} and is_identity = 'YES'
    `.execute(db);
  }
}
