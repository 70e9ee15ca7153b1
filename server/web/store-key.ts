import type { FastifyInstance } from "fastify";
import type { KeyChanges, KeyStatus } from "../master-key/key-changes.ts";
import { storeReasons } from "../store/reasons.ts";
import { type AdminRoute, answerAdminRoute } from "./admin-route.ts";

/** Path that `hostplane store key-status` reads and `hostplane store change-key` posts to. */
export const storeKeyPath = "/admin/store-key";

export interface StoreKeyOptions extends Pick<AdminRoute<KeyStatus>, "listenerOf"> {
  readonly keyChanges: Pick<KeyChanges, "status" | "change">;
}

/** Reports the master keys of the store, and changes the one in use. It is not an RPC, because the keys are files of the host. */
export async function storeKey(
  app: FastifyInstance,
  { listenerOf, keyChanges }: StoreKeyOptions,
): Promise<void> {
  const route = { listenerOf, refusal: storeReasons.MASTER_KEY_UNCHANGED };
  app.get(storeKeyPath, (request, reply) =>
    answerAdminRoute(request, reply, {
      ...route,
      failed: "the state of the master key could not be read",
      answer: keyChanges.status,
    }),
  );
  app.post(storeKeyPath, (request, reply) =>
    answerAdminRoute(request, reply, {
      ...route,
      failed: "the master key could not be changed",
      answer: keyChanges.change,
    }),
  );
}
