import type { Command } from "commander";
import { withConfigFlags, withTargetFlags } from "../config/config-flags.ts";
import type { Output } from "../table/output.ts";

/** Adds the commands of the store, which need the data directory of this host. */
export function addStore(
  program: Command,
  version: string,
  output: Output,
  onExit: (code: number) => void,
): void {
  const store = program
    .command("store")
    .description(
      "back up or move the store (users, tokens, the audit log, events and operations), and change its master key",
    );
  withTargetFlags(store.command("backup"))
    .description("write a consistent copy of the store while the gateway keeps running")
    .argument("<file>", "must not exist")
    .action(async (file, options) => {
      const { backupStore } = await import("./store.ts");
      onExit(await backupStore(file, options, { output, version }));
    });
  withTargetFlags(store.command("change-key"))
    .description("change the master key to the last one of the key file, while the gateway keeps running")
    .action(async (options) =>
      onExit(await (await import("./store-key.ts")).changeKey(options, { output, version })),
    );
  withTargetFlags(store.command("key-status"))
    .description("show which master key is in use, and which replaced ones are still needed")
    .action(async (options) =>
      onExit(await (await import("./store-key.ts")).printKeyStatus(options, { output, version })),
    );
  withTargetFlags(store.command("export-keys"))
    .description("write the keys of all backup repositories to a file, encrypted with a second key")
    .argument("<file>", "must not exist")
    .requiredOption("--key-file <file>", "file with the second key, 32 bytes in base64")
    .action(async (file, options) => {
      const { exportRepositoryKeys } = await import("./repository-keys.ts");
      onExit(await exportRepositoryKeys(file, options.keyFile, options, { output, version }));
    });
  store
    .command("print-keys")
    .description("decrypt exported keys of backup repositories, and print them; needs no gateway")
    .argument("<file>", "written by export-keys")
    .requiredOption("--key-file <file>", "file with the second key")
    .action(async (file, options) => {
      const { printRepositoryKeys } = await import("./repository-keys.ts");
      onExit(await printRepositoryKeys(file, options.keyFile, output));
    });
  withConfigFlags(store.command("copy"))
    .description(
      "copy the SQLite store of a stopped gateway to the empty PostgreSQL database that `store` names",
    )
    .action(async (options) =>
      onExit(await (await import("./store.ts")).copyStoreToPostgres(options, output)),
    );
}
