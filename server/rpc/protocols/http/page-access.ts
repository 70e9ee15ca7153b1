import type { FastifyRequest } from "fastify";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { Call } from "../../call/call.ts";
import type { Caller } from "../../call/caller.ts";
import type { ListenerFacts } from "../../call/listener-facts.ts";
import { infraErrorFrom } from "../../errors/connect-error.ts";
import { rpcReasons } from "../../reasons.ts";
import { peerFromRequest } from "./serve-request.ts";

/**
 * Creates the check of who may read a page: every caller that is logged in, with any credential that an RPC accepts, unless its
 * grants have bounds of resources. The check returns why a request is refused, or undefined.
 * @param authenticate identifies the caller; throws if its credentials are refused
 */
export function createPageAccess(
  authenticate: (request: Pick<Call, "peer" | "header">) => Caller | Promise<Caller>,
): (request: FastifyRequest, listener: ListenerFacts) => Promise<InfraError | undefined> {
  return async (request, listener) => {
    try {
      const peer = peerFromRequest(request.raw, listener);
      const header = (name: string) => request.headers[name]?.toString();
      const { role, grants, actor } = await authenticate({ peer, header });
      if (role === undefined) {
        const message = "this page needs a login; send `authorization: Bearer <token>`";
        return new InfraError(rpcReasons.LOGIN_REQUIRED, message);
      }
      // It may name any resource.
      return grants?.coversAllHere() === false
        ? new InfraError(rpcReasons.NOT_GRANTED, `no grant of ${actor} covers all resources on this host`)
        : undefined;
    } catch (error) {
      return infraErrorFrom(error);
    }
  };
}
