import { randomUUID } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { infraErrorFrom } from "../rpc/errors.ts";
import type { ListenerFacts } from "../rpc/listener-facts.ts";
import { answerNotFound } from "../rpc/plugin.ts";
import { refuse } from "../rpc/refusal.ts";
import { requestIdHeader } from "../rpc/request-facts.ts";

/** Where `hostplane store backup` asks; the query's `file` is the absolute path to write to. */
export const storeBackupPath = "/admin/store-backup";

/** What was written. */
export interface StoreBackup {
  readonly sizeBytes: number;
  /** The master key without which the backup is of no use: where it is, and its fingerprint, for when it is elsewhere. */
  readonly masterKey: string;
}

export interface StoreBackupOptions {
  readonly listenerOf: (request: FastifyRequest) => ListenerFacts;
  readonly backup: (file: string) => Promise<StoreBackup>;
}

/**
 * Writes a backup of the store where the caller says. For the admin socket alone, whose callers may read the data
 * directory anyhow; no RPC, since nobody else should make the gateway write files.
 */
export async function storeBackup(app: FastifyInstance, options: StoreBackupOptions): Promise<void> {
  app.post<{ Querystring: { file?: string } }>(storeBackupPath, async (request, reply) => {
    if (options.listenerOf(request).access !== "adminSocket") {
      answerNotFound(request, reply);
      return reply;
    }
    try {
      return await options.backup(request.query.file ?? "");
    } catch (thrown) {
      const error = infraErrorFrom(thrown);
      const requestId = randomUUID();
      // That a file exists already is for the caller to know; a full disk is for the log as well.
      const level = error.reason === "BACKUP_REFUSED" ? "info" : "error";
      request.log[level]({ err: error, requestId }, "no backup was written");
      reply.hijack();
      refuse(request.raw, reply.raw, error, { [requestIdHeader]: requestId });
      return reply;
    }
  });
}
