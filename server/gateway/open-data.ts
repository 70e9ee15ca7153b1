import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import type { FastifyBaseLogger } from "fastify";
import { parseStoreAddress } from "../config/store-address.ts";
import { defaultKeyFile } from "../crypto/key-file.ts";
import { loadMasterKeys, type MasterKeys } from "../crypto/master-keys.ts";
import { openDigestKey } from "../master-key/digest-key.ts";
import { type KeyChanges, type KeyChangesOptions, openKeyChanges } from "../master-key/key-changes.ts";
import { describeDisk, readDiskSpace } from "../store/disk-space.ts";
import { databaseFile, openStore } from "../store/open-store.ts";
import type { Store } from "../store/store.ts";
import { type WriteHealth, watchWrites } from "../store/write-health.ts";
import { type Config, hostSystemsOf } from "./config/schema.ts";
import { gatewayModules } from "./store-modules.ts";

/** The gateway's stored data, and the key to the secrets in it. */
export interface Data {
  /** Data directory; the sandbox has its own. */
  readonly directory: string;
  readonly masterKeys: MasterKeys;
  readonly keyChanges: KeyChanges;
  /** Keys of digests in the store, which stay the same when the master key changes. */
  readonly digestKeys: { readonly plans: Uint8Array; readonly idempotency: Uint8Array };
  readonly store: Store;
  readonly writes: WriteHealth;
}

export interface OpenDataOptions {
  readonly config: Pick<Config, "data" | "store"> & Partial<Config>;
  readonly isSandbox: boolean;
  /** Value of the variable HOSTPLANE_KEY. */
  readonly environmentKey: string | undefined;
  readonly logger: FastifyBaseLogger;
  /** Called when the store has failed for good, so that the process must exit. */
  readonly onLost: (error: Error) => void;
}

/** Returns the directory that holds all of the gateway's data. */
export function dataDirectoryOf(config: Pick<Config, "data">, isSandbox: boolean): string {
  return isSandbox ? join(config.data, "sandbox") : config.data;
}

/**
 * Opens the store with the master keys, and creates both at the first start. The sandbox always uses SQLite in its own directory,
 * whatever the configuration names.
 * @throws Error and InfraError of `loadMasterKeys`, `openStore` and `openKeyChanges`
 */
export async function openData(options: OpenDataOptions): Promise<Data> {
  const { config, isSandbox, logger } = options;
  const directory = dataDirectoryOf(config, isSandbox);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const url = isSandbox ? "sqlite" : config.store;
  // For SQLite nothing is awaited before its thread starts: that takes as long as loading the rest of the gateway's code.
  const isStoreNew =
    url === "sqlite" ? !existsSync(databaseFile(directory)) : await isPostgresNew(url, directory);
  const masterKeys = loadMasterKeys({
    environmentKey: options.environmentKey,
    keyFile: config.keyFile,
    defaultFile: defaultKeyFile(directory),
    // A missing key must not be replaced by a new one if the database already exists.
    isStoreNew,
  });
  const { newest, fingerprints } = masterKeys;
  const name = config.host ?? hostname();
  const store = await openStore({
    modules: gatewayModules,
    url,
    directory,
    kind: isSandbox ? "sandbox" : "real",
    keyCheck: newest.fingerprint,
    otherKeyChecks: fingerprints.filter((each) => each !== newest.fingerprint),
    user: { name, hostSystems: hostSystemsOf(config) },
    log: {
      info: (message) => logger.info(message),
      warn: (message, err) => logger.warn({ err }, message),
      fatal: (message, cause) => options.onLost(new Error(message, { cause })),
    },
  });
  try {
    const keys = { store, masterKeys, host: name, shownAs: shownAsOf(url, directory) };
    return { ...watched(store, options, directory), ...(await openKeys(keys, options, isStoreNew)) };
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function isPostgresNew(url: string, directory: string): Promise<boolean> {
  const { readStoreFacts } = await import("../store/read-store-facts.ts");
  return (await readStoreFacts(url, directory)) === undefined;
}

function shownAsOf(url: string, directory: string): string {
  const address = parseStoreAddress(url);
  return typeof address === "object" && address.kind === "postgres"
    ? address.shownAs
    : databaseFile(directory);
}

function watched(
  store: Store,
  { logger }: OpenDataOptions,
  directory: string,
): Pick<Data, "directory" | "store" | "writes"> {
  const log = {
    info: (message: string) => logger.info(message),
    error: (message: string, err?: unknown) => logger.error({ err }, message),
  };
  const describe = async () => (store.isShared ? undefined : describeDisk(await readDiskSpace(directory)));
  return { directory, ...watchWrites(store, log, describe) };
}

async function openKeys(
  keys: Pick<KeyChangesOptions, "store" | "masterKeys" | "host" | "shownAs"> & { readonly store: Store },
  { logger, onLost }: OpenDataOptions,
  isStoreNew: boolean,
): Promise<Pick<Data, "masterKeys" | "keyChanges" | "digestKeys">> {
  const { store, masterKeys } = keys;
  const log = {
    info: (message: string) => logger.info(message),
    warn: (message: string, err?: unknown) => logger.warn({ err }, message),
  };
  const keyChanges = await openKeyChanges({ ...keys, log, onLost });
  // Stores from before this table have digests made with derived keys.
  const digestKey = (name: string) =>
    openDigestKey(
      store,
      masterKeys,
      name,
      isStoreNew ? randomBytes(32) : masterKeys.current.deriveKey(name).export(),
    );
  const [plans, idempotency] = await Promise.all([digestKey("plan-digest"), digestKey("idempotency-hash")]);
  return { masterKeys, keyChanges, digestKeys: { plans, idempotency } };
}
