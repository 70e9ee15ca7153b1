import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { syncDirectory } from "./sqlite/sqlite-file.ts";
import type { Store } from "./store.ts";

export interface ScheduledBackupsOptions {
  readonly store: Pick<Store, "backup">;
  /** Absolute path; created if it does not exist. */
  readonly directory: string;
  /** Hours from one copy to the next, counted from the Unix epoch. */
  readonly everyHours: number;
  /** Number of copies to keep. */
  readonly keep: number;
}

export interface ScheduledBackups {
  /** Resolves once no copy is being written. */
  close(): Promise<void>;
}

const hourMs = 3_600_000;
const checkMs = 60_000;

/** Names of copies; other files in the directory are not touched. */
const copyName = /^hostplane-\d{8}T\d{4}Z\.db$/;
const unfinishedName = /^hostplane-\d{8}T\d{4}Z\.db\.unfinished$/;

/** Writes a copy of the store at each scheduled time, and at the start if the last one was missed. */
export function startScheduledBackups(
  options: ScheduledBackupsOptions,
  log: { info(message: string): void; warn(message: string, cause?: unknown): void },
): ScheduledBackups {
  let running: Promise<void> | undefined;

  async function check(): Promise<void> {
    try {
      const file = await backUpIfDue(options, Date.now());
      if (file !== undefined) {
        log.info(`wrote the backup ${file} of the store`);
      }
    } catch (error) {
      log.warn(`the store could not be backed up to ${options.directory}; retrying every minute`, error);
    }
  }

  function work(): void {
    running ??= check().finally(() => {
      running = undefined;
    });
  }

  work();
  const timer = setInterval(work, checkMs).unref();
  return {
    async close() {
      clearInterval(timer);
      await running;
    },
  };
}

/**
 * Writes the copy of the newest scheduled time, unless it exists, and removes those beyond `keep`. Returns the file that it wrote.
 * An interrupted copy is never taken for a complete one.
 * @throws InfraError BACKUP_REFUSED, STORE_UNAVAILABLE; Error when the directory cannot be used
 */
export async function backUpIfDue(
  { store, directory, everyHours, keep }: ScheduledBackupsOptions,
  nowMs: number,
): Promise<string | undefined> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const name = nameOfSlot(Math.floor(nowMs / (everyHours * hourMs)) * everyHours * hourMs);
  const found = await readdir(directory);
  const copies = found.filter((each) => copyName.test(each)).toSorted();
  // A clock that was set back must not write a copy again and again.
  if ((copies.at(-1) ?? "") >= name) {
    return undefined;
  }
  for (const left of found.filter((each) => unfinishedName.test(each))) {
    await rm(join(directory, left));
  }
  const file = join(directory, name);
  await store.backup(`${file}.unfinished`);
  await rename(`${file}.unfinished`, file);
  syncDirectory(directory);
  for (const old of [...copies, name].slice(0, -keep)) {
    await rm(join(directory, old));
  }
  return file;
}

/**
 * Returns the scheduled time of the newest copy in a directory, in ms since the epoch; undefined if there is none, or if the directory
 * cannot be read.
 */
export async function readNewestCopyMs(directory: string): Promise<number | undefined> {
  const found = await readdir(directory).catch(() => []);
  const newest = found
    .filter((each) => copyName.test(each))
    .toSorted()
    .at(-1);
  return newest === undefined ? undefined : slotMsOf(newest);
}

/** Returns for example `hostplane-20260131T0200Z.db`. Names are in the order of their times. */
function nameOfSlot(slotMs: number): string {
  const minute = new Date(slotMs).toISOString().slice(0, "2026-01-31T02:00".length);
  return `hostplane-${minute.replaceAll(/[-:]/g, "")}Z.db`;
}

/** The inverse of `nameOfSlot`. */
function slotMsOf(name: string): number {
  return Date.parse(name.replace(/^hostplane-(.{4})(..)(..T..)(..Z)\.db$/, "$1-$2-$3:$4"));
}
