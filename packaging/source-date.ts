import { lutimes, readdir } from "node:fs/promises";
import { join } from "node:path";
import { runBuildCommand } from "./build-command.ts";

/**
 * Returns the date that all files of the packages have, so that two builds of a commit give the same bytes: SOURCE_DATE_EPOCH
 * (reproducible-builds.org) or the date of the commit.
 * @throws Error if neither is known
 */
export async function readBuildTime(): Promise<Date> {
  const set = process.env.SOURCE_DATE_EPOCH;
  if (set === undefined) {
    return new Date(Number(await runBuildCommand(["git", "log", "-1", "--format=%ct"])) * 1000);
  }
  if (!/^\d+$/.test(set)) {
    throw new Error(`SOURCE_DATE_EPOCH=${set}: expected seconds since 1970`);
  }
  return new Date(Number(set) * 1000);
}

/** Sets the date of a directory and of everything in it. */
export async function dateFiles(directory: string, date: Date): Promise<void> {
  for (const entry of await readdir(directory, { recursive: true })) {
    await lutimes(join(directory, entry), date, date);
  }
  await lutimes(directory, date, date);
}
