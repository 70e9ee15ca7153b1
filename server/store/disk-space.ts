import { stat, statfs } from "node:fs/promises";
import { databaseFile } from "./open-store.ts";

/** Free space of a directory's file system, as available to this process. */
export interface DiskSpace {
  readonly freeBytes: number;
  readonly sizeBytes: number;
}

/** Below this, the next changes may not fit: SQLite's log grows by the pages that they modify. */
const fullBytes = 1024 * 1024;

const nearlyFullShare = 0.05;

/** @throws Error when the file system cannot be queried */
export async function readDiskSpace(directory: string): Promise<DiskSpace> {
  const { bsize, bfree, bavail, blocks } = await statfs(directory);
  // A file system may reserve blocks for root.
  const free = process.geteuid?.() === 0 ? bfree : bavail;
  return { freeBytes: free * bsize, sizeBytes: blocks * bsize };
}

/** Returns the size of an SQLite database with its write-ahead log. @throws Error if there is no database */
export async function readDatabaseBytes(directory: string): Promise<number> {
  const file = databaseFile(directory);
  const log = await stat(`${file}-wal`).catch(() => undefined);
  return (await stat(file)).size + (log?.size ?? 0);
}

/** Reports whether there is no room for another change. */
export function isFull({ freeBytes }: DiskSpace): boolean {
  return freeBytes < fullBytes;
}

/** Reports whether the gateway should warn of too little room. */
export function isNearlyFull({ freeBytes, sizeBytes }: DiskSpace): boolean {
  return freeBytes < nearlyFullShare * sizeBytes;
}

/** Formats disk usage, e.g. `97 % full, 12 MiB free`. */
export function describeDisk({ freeBytes, sizeBytes }: DiskSpace): string {
  const percent = sizeBytes === 0 ? 100 : Math.floor((100 * (sizeBytes - freeBytes)) / sizeBytes);
  return `${percent} % full, ${Math.floor(freeBytes / 1024 / 1024)} MiB free`;
}
