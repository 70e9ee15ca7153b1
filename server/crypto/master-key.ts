import { createSecretKey, hkdfSync, type KeyObject, randomBytes } from "node:crypto";
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

const keyBytes = 32;

/** Format of a key file and of HOSTPLANE_KEY. */
const keyFormat = /^[A-Za-z0-9+/]{43}=$/;

/** The key that secrets in the store are encrypted with. It is never passed on; keys for use are derived from it. */
export interface MasterKey {
  /** Identifies the key without revealing anything about it. */
  readonly fingerprint: string;
  /** Where the key comes from, for people: a path, or `HOSTPLANE_KEY`. */
  readonly source: string;
  /** Derives 32 bytes for one purpose. They reveal neither this key nor the key of another purpose. */
  deriveKey(purpose: string): KeyObject;
}

export interface MasterKeyOptions {
  /** Value of the variable HOSTPLANE_KEY. */
  readonly environmentKey: string | undefined;
  /** Configured key file. It must exist. */
  readonly keyFile: string | undefined;
  /** Key file if none is configured. It is created if the store is new. */
  readonly defaultFile: string;
  /** Whether the store is new. For an existing store a new key would be useless, and would hide that the right one is lost. */
  readonly isStoreNew: boolean;
}

/** Returns the path of a data directory's master key, if no key is configured or given. */
export function defaultKeyFile(directory: string): string {
  return join(directory, "key");
}

/**
 * Loads the master key from the variable, else from the configured file, else from the default file.
 * @throws Error with the fix when there is none, when it is not 32 bytes in base64, or when others may read it
 */
export function loadMasterKey(options: MasterKeyOptions): MasterKey {
  const { environmentKey, keyFile, defaultFile } = options;
  if (environmentKey !== undefined && environmentKey !== "") {
    return masterKeyFromText(environmentKey, "HOSTPLANE_KEY");
  }
  if (keyFile !== undefined) {
    return masterKeyFromText(readKeyFile(keyFile) ?? fail(`the key file ${keyFile} does not exist`), keyFile);
  }
  let text = readKeyFile(defaultFile);
  if (text === undefined) {
    if (!options.isStoreNew) {
      fail(
        `the master key ${defaultFile} is missing, and the store has secrets that only this key decrypts: restore it, or set HOSTPLANE_KEY or keyFile`,
      );
    }
    makeKeyFile(defaultFile);
    text = readKeyFile(defaultFile) ?? fail(`the key file ${defaultFile} cannot be created`);
  }
  return masterKeyFromText(text, defaultFile);
}

/** Parses a master key. @throws Error when the text is not 32 bytes in base64; the message does not repeat the text */
export function masterKeyFromText(text: string, source: string): MasterKey {
  const trimmed = text.trim();
  const bytes = Buffer.from(trimmed, "base64");
  if (!keyFormat.test(trimmed) || bytes.toString("base64") !== trimmed) {
    fail(
      `${source}: expected ${keyBytes} bytes in base64 (44 characters), as \`openssl rand -base64 ${keyBytes}\` prints`,
    );
  }
  const key = createSecretKey(bytes);
  // RFC 5869, without a salt: the key is already random.
  const derive = (info: string, length: number) =>
    Buffer.from(hkdfSync("sha256", key, "", `hostplane/v1/${info}`, length));
  return {
    source,
    fingerprint: derive("fingerprint", 16).toString("hex"),
    deriveKey: (purpose) => createSecretKey(derive(`purpose/${purpose}`, 32)),
  };
}

function readKeyFile(file: string): string | undefined {
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
    if ((mode & constants.S_IFMT) !== constants.S_IFREG || size > 1024) {
      fail(`${file} is not a key file`);
    }
    if ((mode & forbiddenKeyModes) !== 0) {
      fail(
        `the key file ${file} may be read or changed by others (mode ${(mode & 0o777).toString(8)}): run chmod 600 on it`,
      );
    }
    return readFileSync(descriptor, "utf8");
  } finally {
    closeSync(descriptor);
  }
}

/** Mode bits that the key file must not have. The group may read it, as needed for secrets mounted for a non-root user. */
export const forbiddenKeyModes = 0o027;

/** Creates the key file. If two gateways do so at once, one wins. The file never appears half written. */
function makeKeyFile(file: string): void {
  const draft = join(dirname(file), `.key-${randomBytes(8).toString("hex")}`);
  const descriptor = openSync(draft, "wx", 0o600);
  try {
    writeSync(descriptor, `${randomBytes(keyBytes).toString("base64")}\n`);
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

function fail(message: string): never {
  throw new Error(message);
}
