import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { FastifyBaseLogger } from "fastify";
import type { Config } from "./config/schema.ts";
import { defaultKeyFile, loadMasterKey, type MasterKey } from "./crypto/master-key.ts";
import { describeDisk, readDiskSpace } from "./store/disk-space.ts";
import { databaseFile, openStore } from "./store/open-store.ts";
import type { Store } from "./store/store.ts";
import { type WriteHealth, watchWrites } from "./store/write-health.ts";

/** What the gateway keeps, and the key to the secrets in it. */
export interface Data {
  /** The sandbox has a directory of its own. */
  readonly directory: string;
  readonly masterKey: MasterKey;
  readonly store: Store;
  readonly writes: WriteHealth;
}

export interface OpenDataOptions {
  readonly config: Pick<Config, "data" | "store" | "keyFile">;
  readonly isSandbox: boolean;
  /** What the variable HOSTPLANE_KEY holds. */
  readonly environmentKey: string | undefined;
  readonly logger: FastifyBaseLogger;
  /** Called when the store works no more, so that the process has to end. */
  readonly onLost: (error: Error) => void;
}

/** The directory of everything that a gateway keeps. */
export function dataDirectoryOf(config: Pick<Config, "data">, isSandbox: boolean): string {
  return isSandbox ? join(config.data, "sandbox") : config.data;
}

/**
 * Opens the store with the master key, and makes both at the first start. The sandbox keeps to SQLite in its own
 * directory, whatever the configuration names.
 * @throws Error and InfraError of `loadMasterKey` and `openStore`
 */
export async function openData(options: OpenDataOptions): Promise<Data> {
  const { config, isSandbox, logger } = options;
  const directory = dataDirectoryOf(config, isSandbox);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const url = isSandbox ? "sqlite" : config.store;
  // Nothing is waited for before SQLite's thread begins: its start is as long as the loading of what else a gateway is made of.
  const isStoreNew =
    url === "sqlite" ? !existsSync(databaseFile(directory)) : await isPostgresNew(url, directory);
  const masterKey = loadMasterKey({
    environmentKey: options.environmentKey,
    keyFile: config.keyFile,
    defaultFile: defaultKeyFile(directory),
    // A key that is missing must not be made anew for a database that is there.
    isStoreNew,
  });
  const store = await openStore({
    url,
    directory,
    kind: isSandbox ? "sandbox" : "real",
    keyCheck: masterKey.fingerprint,
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
  const { readStoreFacts } = await import("./store/read-store-facts.ts");
  return (await readStoreFacts(url, directory)) === undefined;
}
