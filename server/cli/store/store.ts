import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseStoreAddress } from "../../config/store-address.ts";
import { messageFromError } from "../../domain/message-from-error.ts";
import { type StoreBackup, storeBackupPath } from "../../web/store-backup.ts";
import { loadConfigOrExplain } from "../config/config-options.ts";
import type { ExitCode, Output } from "../table/output.ts";
import {
  type CommandContext,
  configOptionsOf,
  type TargetOptions,
  withSession,
} from "../target/with-session.ts";
import { callAdminSocket } from "./call-admin-socket.ts";

/** Writes a consistent copy of the store to a file that must not exist, and names the master key that belongs to it. */
export function backupStore(
  file: string,
  options: TargetOptions,
  context: CommandContext,
): Promise<ExitCode> {
  return withSession(options, context, { mustRun: false }, async ({ adminSocket }) => {
    if (adminSocket === undefined) {
      throw new Error(
        "a backup is written on the gateway's host: run this command there, with --context local",
      );
    }
    const path = `${storeBackupPath}?file=${encodeURIComponent(resolve(file))}`;
    const { sizeBytes, masterKey } = await callAdminSocket<StoreBackup>(adminSocket, "POST", path);
    context.output.out(`wrote ${resolve(file)} (${sizeBytes} bytes)`);
    context.output.out(
      `the backup is unusable without the master key ${masterKey}: save the key too, in a separate place`,
    );
    return 0;
  });
}

/**
 * Copies the SQLite database of a data directory to the empty PostgreSQL database that `store` names, which the gateway will
 * use from then on. The URL contains a password, so it comes from the file or HOSTPLANE_STORE and is not an argument.
 */
export async function copyStoreToPostgres(options: TargetOptions, output: Output): Promise<ExitCode> {
  const loaded = await loadConfigOrExplain(configOptionsOf(options), output);
  if (loaded === undefined) {
    return 2;
  }
  const { config } = loaded;
  const target = parseStoreAddress(config.store);
  if (typeof target === "string" || target.kind !== "postgres") {
    output.err(
      "no target: set `store` in the configuration, or HOSTPLANE_STORE, to the empty PostgreSQL database",
    );
    return 2;
  }
  try {
    const [{ copyStore }, { storeMissing }, { databaseFile }, { defaultKeyFile }, { loadMasterKeys }] =
      await Promise.all([
        import("../../store/copy-store.ts"),
        import("../../store/database-facts.ts"),
        import("../../store/open-store.ts"),
        import("../../crypto/key-file.ts"),
        import("../../crypto/master-keys.ts"),
      ]);
    const file = databaseFile(config.data);
    if (!existsSync(file)) {
      throw storeMissing(file);
    }
    const { newest, fingerprints } = loadMasterKeys({
      environmentKey: process.env.HOSTPLANE_KEY,
      keyFile: config.keyFile,
      defaultFile: defaultKeyFile(config.data),
      isStoreNew: false,
    });
    const copied = await copyStore({
      directory: config.data,
      url: target.url,
      kind: "real",
      keyCheck: newest.fingerprint,
      otherKeyChecks: fingerprints,
    });
    for (const [table, count] of copied) {
      output.out(`${table}: ${count}`);
    }
    output.out(`copied to ${target.shownAs}; a gateway with this configuration now uses it`);
    return 0;
  } catch (error) {
    output.err(messageFromError(error));
    return 1;
  }
}
