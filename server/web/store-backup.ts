import { randomUUID } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ListenerFacts } from "../rpc/call/listener-facts.ts";
import { requestIdHeader } from "../rpc/call/request-facts.ts";
import { infraErrorFrom } from "../rpc/errors/connect-error.ts";
import { answerNotFound } from "../rpc/protocols/http/not-found.ts";
import { refuse } from "../rpc/protocols/http/refusal.ts";
import { storeReasons } from "../store/reasons.ts";

/** Path that `hostplane store backup` calls; the query parameter `file` is the absolute path to write to. */
export const storeBackupPath = "/admin/store-backup";

/** Result of a backup. */
export interface StoreBackup {
  readonly sizeBytes: number;
  /** Source and fingerprint of the master key, which is needed to use the backup. */
  readonly masterKey: string;
}

export interface StoreBackupOptions {
  readonly listenerOf: (request: FastifyRequest) => ListenerFacts;
  readonly backup: (file: string) => Promise<StoreBackup>;
}

/**
 * Writes a backup of the store to a path that the caller chooses. Only on the admin socket, whose callers can read the data
 * directory anyway. It is not an RPC, because other callers must not make the gateway write files.
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
      // An existing file only concerns the caller; a full disk also belongs in the log.
      const level = error.is(storeReasons.BACKUP_REFUSED) ? "info" : "error";
      request.log[level]({ err: error, requestId }, "the store could not be backed up");
      reply.hijack();
      refuse(request.raw, reply.raw, error, { [requestIdHeader]: requestId });
      return reply;
    }
  });
}
