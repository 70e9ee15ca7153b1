import type { DatabaseSync } from "node:sqlite";
import type { Kysely } from "kysely";
import { assertDatabaseFacts, type Expectations, readDatabaseFacts } from "../database-facts.ts";
import { migrate } from "../migrate.ts";
import type { Migration } from "../migrations/migration.ts";
import type { Schema } from "../schema.ts";
import { sqliteDialect } from "../sql-dialect.ts";
import { backupBeforeMigration } from "./sqlite-backup.ts";
import { kyselyFromSqlite } from "./sqlite-dialect.ts";
import { infraErrorFromSqlite } from "./sqlite-errors.ts";
import { openSqliteFile } from "./sqlite-file.ts";

/** An SQLite database that this program may use, with its tables up to date. */
export interface PreparedSqlite {
  readonly database: DatabaseSync;
  readonly db: Kysely<Schema>;
  /** Messages for the operator. */
  readonly notes: readonly string[];
}

/**
 * Opens the file exclusively for this process, checks that it is the expected database, and migrates it to the version of the
 * program. An existing database is first backed up next to the file.
 * @throws InfraError the errors of `openSqliteFile` and `assertDatabaseFacts`, BACKUP_REFUSED, STORE_UNAVAILABLE
 */
export async function prepareSqlite(
  file: string,
  expectations: Expectations,
  migrations: readonly Migration[],
): Promise<PreparedSqlite> {
  const database = openSqliteFile(file, expectations.createIfMissing);
  try {
    const db = kyselyFromSqlite(database);
    const notes = await bringUpToDate({ database, db }, file, expectations, migrations);
    return { database, db, notes };
  } catch (error) {
    database.close();
    throw infraErrorFromSqlite(error, `the tables of the database ${file} cannot be prepared`);
  }
}

async function bringUpToDate(
  { database, db }: Omit<PreparedSqlite, "notes">,
  file: string,
  expectations: Expectations,
  migrations: readonly Migration[],
): Promise<readonly string[]> {
  const facts = await readDatabaseFacts(db, sqliteDialect);
  assertDatabaseFacts(facts, expectations, migrations.length);
  if (facts?.schemaVersion === migrations.length) {
    return [];
  }
  const backup = facts === undefined ? undefined : backupBeforeMigration(database, file, migrations.length);
  database.exec("begin immediate");
  try {
    const nowMs = Date.now();
    await migrate({ db, dialect: sqliteDialect, nowMs, migrations, facts, expectations });
    database.exec("commit");
  } catch (error) {
    if (database.isTransaction) {
      database.exec("rollback");
    }
    throw error;
  }
  return backup === undefined
    ? [`created the database ${file}`]
    : [
        `migrated ${file} to schema version ${migrations.length}; the backup from before the migration is ${backup}`,
      ];
}
