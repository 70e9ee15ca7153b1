import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  statSync,
  unlinkSync,
} from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { storeMissing } from "../database-facts.ts";
import { storeReasons } from "../reasons.ts";
import { lockHolder } from "./lock-holder.ts";
import { infraErrorFromSqlite, isBusy } from "./sqlite-errors.ts";

/** How long to wait for another process to close the file, e.g. the gateway that this one replaces. */
const busyTimeoutMs = 5000;

/**
 * Opens the database file exclusively for this process, so that a commit is on disk when it returns. Creates the file (mode
 * 0600) and its directory (0700) if requested.
 * @throws InfraError STORE_MISSING, STORE_IN_USE, STORE_DAMAGED, STORE_UNAVAILABLE
 */
export function openSqliteFile(file: string, createIfMissing: boolean): DatabaseSync {
  if (!existsSync(file) && !createIfMissing) {
    throw storeMissing(file);
  }
  assertNotEmptied(file);
  try {
    makePrivateFile(file);
  } catch (error) {
    const message = `the database file ${file} cannot be opened: ${(error as Error).message}`;
    throw new InfraError(storeReasons.STORE_UNAVAILABLE, message, { cause: error });
  }
  const database = new DatabaseSync(file, { timeout: busyTimeoutMs });
  try {
    // EXCLUSIVE must come first, so that the first access takes the lock and keeps it.
    database.exec("pragma locking_mode = exclusive");
    database.exec("pragma journal_mode = wal");
    database.exec("pragma synchronous = full");
    database.exec("pragma foreign_keys = on");
    database.exec("begin immediate");
    database.exec("commit");
  } catch (error) {
    database.close();
    throw isBusy(error)
      ? inUse(file)
      : infraErrorFromSqlite(error, `the database file ${file} cannot be opened`);
  }
  return database;
}

function makePrivateFile(file: string): void {
  const directory = dirname(file);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (!existsSync(file)) {
    makeEmptyDatabase(file);
    syncDirectory(directory);
  } else if ((statSync(file).mode & 0o077) !== 0) {
    // A backup that was restored by hand may have any mode.
    chmodSync(file, 0o600);
  }
}

/**
 * Creates a database without tables. It never appears as an empty file, because an empty file counts as truncated. If two
 * processes do this at once, one of them succeeds.
 */
function makeEmptyDatabase(file: string): void {
  const draft = `${file}.${randomBytes(8).toString("hex")}`;
  closeSync(openSync(draft, "wx", 0o600));
  try {
    const database = new DatabaseSync(draft);
    try {
      // Writes the file header and syncs it.
      database.exec("pragma journal_mode = wal");
    } finally {
      database.close();
    }
    linkSync(draft, file);
  } catch (error) {
    if (!existsSync(file)) {
      throw error;
    }
  } finally {
    unlinkSync(draft);
  }
}

/**
 * Rejects an empty file, which SQLite would treat as a new database.
 * @throws InfraError STORE_DAMAGED
 */
export function assertNotEmptied(file: string): void {
  if (statSync(file, { throwIfNoEntry: false })?.size === 0) {
    const message = `The database file ${file} is empty: it was truncated, or the first start of an older version was interrupted. Restore a backup as described in docs/how-to/upgrade.md. If it never contained data, remove the file and ${file}-wal and start again.`;
    throw new InfraError(storeReasons.STORE_DAMAGED, message);
  }
}

/** Syncs a directory, so that new names in it survive a power failure. */
export function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function inUse(file: string): InfraError {
  const holder = lockHolder(file);
  const who = holder === undefined ? "another process" : `process ${holder}`;
  return new InfraError(
    storeReasons.STORE_IN_USE,
    `The database ${file} is in use by ${who}, and only one process may use it. If that is a gateway, stop it first, or choose another data directory.`,
  );
}
