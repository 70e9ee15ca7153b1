import { setTimeout as delay } from "node:timers/promises";
import type { KeyStatus } from "../../master-key/key-changes.ts";
import { storeKeyPath } from "../../web/store-key.ts";
import type { ExitCode } from "../table/output.ts";
import type { Session } from "../table/session.ts";
import { type CommandContext, type TargetOptions, withSession } from "../target/with-session.ts";
import { callAdminSocket } from "./call-admin-socket.ts";

const pollMs = 500;

/** Prints the fingerprint of the master key in use, and which replaced ones are still needed. */
export function printKeyStatus(options: TargetOptions, context: CommandContext): Promise<ExitCode> {
  return withSession(options, context, { mustRun: false }, async (session) => {
    const status = await callAdminSocket<KeyStatus>(adminSocketOf(session), "GET", storeKeyPath);
    for (const line of linesOf(status)) {
      context.output.out(line);
    }
    return 0;
  });
}

/** Changes the master key to the last one of the key file, and waits until no secret needs the replaced one. */
export function changeKey(options: TargetOptions, context: CommandContext): Promise<ExitCode> {
  return withSession(options, context, { mustRun: false }, async (session) => {
    const socket = adminSocketOf(session);
    let status = await callAdminSocket<KeyStatus>(socket, "POST", storeKeyPath);
    const replaced = status.old.map(({ fingerprint }) => fingerprint).join(", ") || "a replaced key";
    context.output.out(`the master key in use is now ${status.current}`);
    if (status.old.length > 0) {
      context.output.out("encrypting all secrets again; if this command is stopped, the gateway continues");
    }
    while (status.old.length > 0) {
      if (status.unreadable.length > 0) {
        const tables = status.unreadable.map(({ table, count }) => `${table} ${count}`).join(", ");
        context.output.err(
          `some secrets cannot be decrypted (${tables}), so ${replaced} is still needed: the gateway's log says why`,
        );
        return 1;
      }
      await delay(pollMs);
      status = await callAdminSocket<KeyStatus>(socket, "GET", storeKeyPath);
    }
    context.output.out(
      `no secret in the store needs ${replaced} any more: remove its line from ${status.source}, and keep it with the store's earlier backups, which need it`,
    );
    return 0;
  });
}

function adminSocketOf({ adminSocket }: Session): string {
  if (adminSocket === undefined) {
    throw new Error(
      "the master key is a file of the gateway's host: run this command there, with --context local",
    );
  }
  return adminSocket;
}

function linesOf({ source, current, old, uses, gateways }: KeyStatus): string[] {
  const secretsOf = (fingerprint: string) => {
    const ofKey = uses.filter((use) => use.fingerprint === fingerprint);
    const count = ofKey.reduce((sum, use) => sum + use.count, 0);
    return `${count} secrets${count === 0 ? "" : ` (${ofKey.map((use) => `${use.table} ${use.count}`).join(", ")})`}`;
  };
  const known = new Set([current, ...old.map(({ fingerprint }) => fingerprint)]);
  const unknown = new Set(uses.map(({ fingerprint }) => fingerprint).filter((each) => !known.has(each)));
  return [
    `in use    ${current} ${secretsOf(current)}, from ${source}`,
    ...old.map(
      ({ fingerprint, replacedAtMs }) =>
        `replaced  ${fingerprint} ${secretsOf(fingerprint)}, on ${new Date(replacedAtMs).toISOString()}: keep it in ${source}`,
    ),
    ...[...unknown].map((fingerprint) => `unknown   ${fingerprint} ${secretsOf(fingerprint)}`),
    ...gateways
      .filter(({ isBehind }) => isBehind)
      .map(({ host }) => `the gateway ${host} may still encrypt with a replaced key`),
  ];
}
