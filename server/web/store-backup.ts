import type { FastifyInstance } from "fastify";
import { storeReasons } from "../store/reasons.ts";
import { type AdminRoute, answerAdminRoute } from "./admin-route.ts";

/** Path that `hostplane store backup` calls; the query parameter `file` is the absolute path to write to. */
export const storeBackupPath = "/admin/store-backup";

/** Result of a backup. */
export interface StoreBackup {
  readonly sizeBytes: number;
  /** Source and fingerprints of the master keys, which are needed to use the backup. */
  readonly masterKey: string;
}

export interface StoreBackupOptions extends Pick<AdminRoute<StoreBackup>, "listenerOf"> {
  readonly backup: (file: string) => Promise<StoreBackup>;
}

/**
 * Writes a backup of the store to a path that the caller chooses. It is not an RPC, because other callers must not make the
 * gateway write files.
 */
export async function storeBackup(
  app: FastifyInstance,
  { listenerOf, backup }: StoreBackupOptions,
): Promise<void> {
  app.post<{ Querystring: { file?: string } }>(storeBackupPath, (request, reply) =>
    answerAdminRoute(request, reply, {
      listenerOf,
      // An existing file only concerns the caller; a full disk also belongs in the log.
      refusal: storeReasons.BACKUP_REFUSED,
      failed: "the store could not be backed up",
      answer: () => backup(request.query.file ?? ""),
    }),
  );
}
