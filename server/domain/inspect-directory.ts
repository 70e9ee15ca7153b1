import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Finding } from "./inspection.ts";

/**
 * Checks whether a directory is writable, or can be created if it does not exist.
 * @param name how the finding refers to it, e.g. `data directory`
 * @param another how to choose another directory
 */
export async function inspectDirectory(name: string, path: string, another: string): Promise<Finding> {
  const directory = resolve(path);
  const existing = await nearestExisting(directory);
  const isDirectory = (await stat(existing)).isDirectory();
  if (isDirectory && (await isAllowed(existing, constants.W_OK | constants.X_OK))) {
    const condition =
      existing === directory ? "is writable" : `does not exist yet and can be created in ${existing}`;
    return { ok: true, what: `${name} ${directory} ${condition}` };
  }
  return {
    ok: false,
    what: isDirectory ? `${name} ${directory} is not writable` : `${existing} is not a directory`,
    fix: isDirectory ? `sudo install -d -o "$(id -un)" ${directory}` : another,
  };
}

/** Reports whether this process has the access `mode` (as for `access(2)`) to a file. */
export async function isAllowed(path: string, mode: number): Promise<boolean> {
  try {
    await access(path, mode);
    return true;
  } catch {
    return false;
  }
}

async function nearestExisting(path: string): Promise<string> {
  return (await isAllowed(path, constants.F_OK)) ? path : nearestExisting(dirname(path));
}
