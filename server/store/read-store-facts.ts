import { constants, copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { InfraError } from "../../adapters/host/infra-error.ts";
import { type DatabaseFacts, readDatabaseFacts } from "./database-facts.ts";
import { databaseFile } from "./open-store.ts";
import { boundedConfig, kyselyOnConnection, sqlRunner } from "./postgres/postgres-client.ts";
import { createPostgresErrors } from "./postgres/postgres-errors.ts";
import { storeReasons } from "./reasons.ts";
import { postgresDialect, sqliteDialect } from "./sql-dialect.ts";
import { kyselyFromSqlite } from "./sqlite/sqlite-dialect.ts";
import { infraErrorFromSqlite } from "./sqlite/sqlite-errors.ts";
import { assertNotEmptied } from "./sqlite/sqlite-file.ts";

/**
 * Reads the facts that a database records about itself, without changing it; undefined when there is none. SQLite cannot open a
 * file without leaving traces, so a copy of the file is read; no gateway should be using it then.
 * @param url `sqlite`, or the URL of a PostgreSQL database
 * @param directory directory of SQLite's file
 * @throws InfraError STORE_UNAVAILABLE, STORE_DAMAGED
 */
export function readStoreFacts(url: string, directory: string): Promise<DatabaseFacts | undefined> {
  return url === "sqlite" ? readSqliteFacts(databaseFile(directory)) : readPostgresFacts(url);
}

async function readSqliteFacts(file: string): Promise<DatabaseFacts | undefined> {
  if (!existsSync(file)) {
    return undefined;
  }
  assertNotEmptied(file);
  const directory = mkdtempSync(join(tmpdir(), "hostplane-store-"));
  try {
    const copy = databaseFile(directory);
    // Commits of a killed gateway are only in the write-ahead log.
    for (const ending of ["", "-wal"].filter((each) => existsSync(file + each))) {
      copyFileSync(file + ending, copy + ending, constants.COPYFILE_FICLONE);
    }
    const database = new DatabaseSync(copy);
    try {
      assertIntact(database, file);
      return await readDatabaseFacts(kyselyFromSqlite(database), sqliteDialect);
    } finally {
      database.close();
    }
  } catch (error) {
    throw infraErrorFromSqlite(error, `the database file ${file} cannot be read`);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** @throws InfraError STORE_DAMAGED */
function assertIntact(database: DatabaseSync, file: string): void {
  const row = database.prepare("PRAGMA integrity_check(1)").get();
  const found = String(Object.values(row ?? {})[0]);
  if (found !== "ok") {
    throw new InfraError(
      storeReasons.STORE_DAMAGED,
      `the database file ${file} is damaged: ${found.replaceAll("\n", " ")}`,
    );
  }
}

async function readPostgresFacts(url: string): Promise<DatabaseFacts | undefined> {
  const errors = createPostgresErrors(url);
  const client = new Client(boundedConfig(url));
  // A lost connection is reported by the next query.
  client.on("error", () => undefined);
  try {
    await client.connect();
    return await readDatabaseFacts(kyselyOnConnection(sqlRunner(client, errors)), postgresDialect);
  } catch (error) {
    throw errors.infraError(error, `the database ${errors.shownAs} cannot be read`);
  } finally {
    await client.end().catch(() => undefined);
  }
}
