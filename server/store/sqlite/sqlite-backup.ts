import { randomUUID } from "node:crypto";
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { storeReasons } from "../reasons.ts";
import type { Backup } from "../store.ts";
import { syncDirectory } from "./sqlite-file.ts";

/**
 * Writes a consistent copy of an open database, outside of a transaction, to a file of mode 0600 that must not exist. Returns
 * once it would survive a power failure. A failed copy leaves no file. The copy gets a new event epoch: a gateway that
 * continues from it assigns event numbers that have since been used for other events.
 * @throws InfraError BACKUP_REFUSED
 */
export function backupSqlite(database: DatabaseSync, file: string): Backup {
  const sizeBytes = writeCopy(database, file, giveOwnEpoch);
  // Nothing else runs on the connection meanwhile, so these are the keys of the copy.
  const query =
    "select value as fingerprint from meta where name = 'key_check' union all select fingerprint from old_master_keys";
  const keys = database.prepare(query).all();
  return { sizeBytes, keyChecks: keys.map(({ fingerprint }) => String(fingerprint)) };
}

function writeCopy(database: DatabaseSync, file: string, change: (file: string) => void): number {
  makeEmptyFile(file);
  try {
    // VACUUM INTO treats an empty file as missing, and so keeps the mode that it was created with.
    database.prepare("vacuum into ?").run(file);
    change(file);
    syncFile(file);
    syncDirectory(dirname(file));
    return statSync(file).size;
  } catch (error) {
    rmSync(file, { force: true });
    throw refusal(file, (error as Error).message, error);
  }
}

function giveOwnEpoch(file: string): void {
  const copy = new DatabaseSync(file);
  try {
    copy.prepare("update meta set value = ? where name = 'event_epoch'").run(randomUUID());
  } finally {
    copy.close();
  }
}

/** Writes the backup before the tables are migrated to `version`. Returns the file's name. */
export function backupBeforeMigration(database: DatabaseSync, file: string, version: number): string {
  const target = freeName(`${file}.before-${version}`);
  const unfinished = `${target}.unfinished`;
  rmSync(unfinished, { force: true });
  writeCopy(database, unfinished, () => {});
  renameSync(unfinished, target);
  syncDirectory(dirname(target));
  return target;
}

/** Picks an unused name. An earlier backup is kept, as the older version may have been used again after it. */
function freeName(name: string): string {
  let candidate = name;
  for (let count = 2; existsSync(candidate); count += 1) {
    candidate = `${name}-${count}`;
  }
  return candidate;
}

function makeEmptyFile(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code === "EEXIST";
    throw refusal(file, exists ? "the file exists" : (error as Error).message, error);
  }
}

function syncFile(file: string): void {
  const descriptor = openSync(file, "r+");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function refusal(file: string, why: string, cause: unknown): InfraError {
  return new InfraError(storeReasons.BACKUP_REFUSED, `the backup ${file} was not written: ${why}`, { cause });
}
