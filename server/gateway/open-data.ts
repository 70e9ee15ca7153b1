import { existsSync, mkdirSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import type { FastifyBaseLogger } from "fastify";
import { defaultKeyFile, loadMasterKey, type MasterKey } from "../crypto/master-key.ts";
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
  readonly masterKey: MasterKey;
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
 * Opens the store with the master key, and creates both at the first start. The sandbox always uses SQLite in its own directory,
 * whatever the configuration names.
 * @throws Error and InfraError of `loadMasterKey` and `openStore`
 */
export async function openData(options: OpenDataOptions): Promise<Data> {
  const { config, isSandbox, logger } = options;
  const directory = dataDirectoryOf(config, isSandbox);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const url = isSandbox ? "sqlite" : config.store;
  // For SQLite nothing is awaited before its thread starts: that takes as long as loading the rest of the gateway's code.
  const isStoreNew =
    url === "sqlite" ? !existsSync(databaseFile(directory)) : await isPostgresNew(url, directory);
  const masterKey = loadMasterKey({
    environmentKey: options.environmentKey,
    keyFile: config.keyFile,
    defaultFile: defaultKeyFile(directory),
    // A missing key must not be replaced by a new one if the database already exists.
    isStoreNew,
  });
  const store = await openStore({
    modules: gatewayModules,
    url,
    directory,
    kind: isSandbox ? "sandbox" : "real",
    keyCheck: masterKey.fingerprint,
    user: { name: config.host ?? hostname(), hostSystems: hostSystemsOf(config) },
    log: {
      info: (message) => logger.info(message),
      warn: (message, err) => logger.warn({ err }, message),
      fatal: (message, cause) => options.onLost(new Error(message, { cause })),
    },
  });
  const log = {
    info: (message: string) => logger.info(message),
    error: (message: string, err?: unknown) => logger.error({ err }, message),
  };
  const describe = async () => (store.isShared ? undefined : describeDisk(await readDiskSpace(directory)));
  return { directory, masterKey, ...watchWrites(store, log, describe) };
}

async function isPostgresNew(url: string, directory: string): Promise<boolean> {
  const { readStoreFacts } = await import("../store/read-store-facts.ts");
  return (await readStoreFacts(url, directory)) === undefined;
}
