import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, rmdir, unlink } from "node:fs/promises";
import { InfraError, invalidField } from "../host/infra-error.ts";
import { hostReasons } from "../host/reasons.ts";
import type { TargetKind } from "./adapter.ts";

/** O_PATH of Linux, which Node does not export: the handle only stands for the directory, and needs no permission to read it. */
const pathOnly = 0o10000000;
const belowFlags = pathOnly | constants.O_NOFOLLOW | constants.O_DIRECTORY;

/** A path of the host, and the directory that `/` stands for, such as `/proc/1/root`. */
export interface HostPath {
  readonly root: string;
  readonly path: string;
  /** The request's field with the path, for the violation. */
  readonly field: string;
}

/**
 * Returns what a path is. Follows no symbolic link.
 * @throws InfraError INVALID_FIELD for a symbolic link or a file on the way; TOOL_FAILED
 */
export function targetKindOf(path: HostPath): Promise<TargetKind> {
  return inParent(path, "absent", async (last) => {
    const facts = await lstat(last);
    return facts.isDirectory() ? "directory" : facts.isFile() || facts.isBlockDevice() ? "file" : "other";
  });
}

/** Creates an empty directory or file. Does nothing if it exists. @throws InfraError INVALID_FIELD, TOOL_FAILED */
export async function createTarget(path: HostPath, kind: "directory" | "file"): Promise<void> {
  const isCreated = await inParent(path, false, async (last) => {
    try {
      if (kind === "directory") {
        await mkdir(last, 0o750);
      } else {
        const flags = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_NOFOLLOW;
        await (await open(last, flags, 0o640)).close();
      }
    } catch (error) {
      if (codeOf(error) !== "EEXIST") {
        throw error;
      }
    }
    return true;
  });
  if (!isCreated) {
    throw invalidField(path.field, "the directory that contains it does not exist");
  }
}

/**
 * Removes an empty directory, or an empty file; does nothing if there is none, or if it is not empty.
 * @throws InfraError INVALID_FIELD, TOOL_FAILED
 */
export async function removeTarget(path: HostPath): Promise<void> {
  await inParent(path, undefined, async (last) => {
    const facts = await lstat(last);
    try {
      if (facts.isDirectory()) {
        await rmdir(last);
      } else if (facts.isFile() && facts.size === 0) {
        await unlink(last);
      }
    } catch (error) {
      if (codeOf(error) !== "ENOTEMPTY") {
        throw error;
      }
    }
  });
}

/**
 * Opens the directories of a path one below the other, as openat(2) does, so that none of them can be replaced by a symbolic link
 * any more, and runs `use` with a path to the last name that passes through no other directory. Returns `absent` if a part of the
 * path does not exist.
 */
async function inParent<Result>(
  { root, path, field }: HostPath,
  absent: Result,
  use: (last: string) => Promise<Result>,
): Promise<Result> {
  const names = path.slice(1).split("/");
  const last = names.pop() ?? "";
  let directory: FileHandle | undefined;
  try {
    directory = await open(`${root}/`, pathOnly | constants.O_DIRECTORY);
    for (const name of names) {
      const next: FileHandle = await open(`/proc/self/fd/${directory.fd}/${name}`, belowFlags);
      await directory.close();
      directory = next;
    }
    return await use(`/proc/self/fd/${directory.fd}/${last}`);
  } catch (error) {
    if (codeOf(error) === "ENOENT") {
      return absent;
    }
    throw errorFromPath(error, path, field);
  } finally {
    await directory?.close();
  }
}

function errorFromPath(error: unknown, path: string, field: string): unknown {
  const code = codeOf(error);
  if (code === undefined) {
    return error;
  }
  // Linux reports a symbolic link that must be a directory as ENOTDIR.
  return code === "ENOTDIR" || code === "ELOOP"
    ? invalidField(field, "must not lead through a symbolic link or a file")
    : new InfraError(hostReasons.TOOL_FAILED, `${path}: ${code}`, { cause: error });
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
