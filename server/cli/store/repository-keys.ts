import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { openExportedKeys } from "../../backups/exported-keys.ts";
import { loadMasterKeys } from "../../crypto/master-keys.ts";
import { messageFromError } from "../../domain/message-from-error.ts";
import { type ExportedKeys, repositoryKeysPath } from "../../web/repository-keys.ts";
import type { ExitCode, Output } from "../table/output.ts";
import { type CommandContext, type TargetOptions, withSession } from "../target/with-session.ts";
import { callAdminSocket } from "./call-admin-socket.ts";

/** Writes the keys of all backup repositories to a file that must not exist, encrypted with a second key. */
export function exportRepositoryKeys(
  file: string,
  keyFile: string,
  options: TargetOptions,
  context: CommandContext,
): Promise<ExitCode> {
  return withSession(options, context, { mustRun: false }, async ({ adminSocket }) => {
    if (adminSocket === undefined) {
      throw new Error(
        "keys are exported on the gateway's host: run this command there, with --context local",
      );
    }
    const path = `${repositoryKeysPath}?keyFile=${encodeURIComponent(resolve(keyFile))}`;
    const { count, text } = await callAdminSocket<ExportedKeys>(adminSocket, "POST", path);
    await writeFile(file, text, { flag: "wx", mode: 0o600 });
    context.output.out(`wrote ${resolve(file)} (${count} keys); only the key in ${keyFile} decrypts it`);
    return 0;
  });
}

/** Prints exported keys as JSON lines. It needs neither a gateway nor its store. */
export async function printRepositoryKeys(file: string, keyFile: string, output: Output): Promise<ExitCode> {
  try {
    const source = { environmentKey: undefined, keyFile, defaultFile: "", isStoreNew: false };
    for (const key of openExportedKeys(await readFile(file, "utf8"), loadMasterKeys(source))) {
      output.out(JSON.stringify(key));
    }
    return 0;
  } catch (error) {
    output.err(messageFromError(error));
    return 1;
  }
}
