import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { masterKeyBytes } from "./master-key.ts";

/** Mode bits that the key file must not have. The group may read it, as needed for secrets mounted for a non-root user. */
export const forbiddenKeyModes = 0o027;

/** Room for a good many keys. */
const maxBytes = 4096;

/** Returns the path of a data directory's master key, if no key is configured or given. */
export function defaultKeyFile(directory: string): string {
  return join(directory, "key");
}

/**
 * Reads a key file; undefined: there is none.
 * @throws Error with the fix when it cannot be read, when it is not a regular file, or when others may read it
 */
export function readKeyFile(file: string): string | undefined {
  let descriptor: number;
  try {
    // Non-blocking: if the file is a pipe, opening it must not wait for a writer.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (isErrno(error, "ENOENT")) {
      return undefined;
    }
    throw new Error(`the key file ${file} cannot be read`, { cause: error });
  }
  try {
    const { mode, size } = fstatSync(descriptor);
    if ((mode & constants.S_IFMT) !== constants.S_IFREG || size > maxBytes) {
      throw new Error(`${file} is not a key file`);
    }
    if ((mode & forbiddenKeyModes) !== 0) {
      throw new Error(
        `the key file ${file} may be read or changed by others (mode ${(mode & 0o777).toString(8)}): run chmod 600 on it`,
      );
    }
    return readFileSync(descriptor, "utf8");
  } finally {
    closeSync(descriptor);
  }
}

/** Creates the key file with a new key. If two gateways do so at once, one wins. The file never appears half written. */
export function makeKeyFile(file: string): void {
  const draft = join(dirname(file), `.key-${randomBytes(8).toString("hex")}`);
  const descriptor = openSync(draft, "wx", 0o600);
  try {
    writeSync(descriptor, `${randomBytes(masterKeyBytes).toString("base64")}\n`);
    fsyncSync(descriptor);
    linkSync(draft, file);
  } catch (error) {
    if (!isErrno(error, "EEXIST")) {
      throw error;
    }
  } finally {
    closeSync(descriptor);
    unlinkSync(draft);
  }
  const directory = openSync(dirname(file), "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
