import { stat } from "node:fs/promises";
import { databaseFile } from "./open-store.ts";

/** Returns the size of SQLite's file with its write-ahead log. @throws Error when the file cannot be queried */
export async function databaseFileBytes(directory: string): Promise<number> {
  const file = databaseFile(directory);
  const log = stat(`${file}-wal`).catch(() => ({ size: 0 }));
  return (await stat(file)).size + (await log).size;
}
