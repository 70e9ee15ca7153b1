import type { FastifyInstance } from "fastify";
import { hostReasons } from "../../adapters/host/reasons.ts";
import { type AdminRoute, answerAdminRoute } from "./admin-route.ts";

/** Path that `hostplane store export-keys` calls; the query parameter `keyFile` is the absolute path of the second key. */
export const repositoryKeysPath = "/admin/repository-keys";

/** Exported keys of backup repositories. */
export interface ExportedKeys {
  readonly count: number;
  /** Text of the file, encrypted with the second key. */
  readonly text: string;
}

export interface RepositoryKeysOptions extends Pick<AdminRoute<ExportedKeys>, "listenerOf"> {
  readonly exportKeys: (keyFile: string) => Promise<ExportedKeys>;
}

/** Exports the keys of backup repositories. It is not an RPC, because the second key is a file of the host. */
export async function repositoryKeys(
  app: FastifyInstance,
  { listenerOf, exportKeys }: RepositoryKeysOptions,
): Promise<void> {
  app.post<{ Querystring: { keyFile?: string } }>(repositoryKeysPath, (request, reply) =>
    answerAdminRoute(request, reply, {
      listenerOf,
      refusal: hostReasons.INVALID_FIELD,
      failed: "the keys of backup repositories could not be exported",
      answer: () => exportKeys(request.query.keyFile ?? ""),
    }),
  );
}
