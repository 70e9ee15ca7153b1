import type { FastifyRequest } from "fastify";
import { InfraError } from "../../adapters/host/infra-error.ts";
import type { Call } from "./call.ts";
import type { Caller } from "./caller.ts";
import { infraErrorFrom } from "./errors.ts";
import type { ListenerFacts } from "./listener-facts.ts";
import { peerFromRequest } from "./plugin.ts";

/**
 * Says why a page is not for whoever asks for it; undefined when it is. It is for everybody who is logged in, by any
 * credential that an RPC may carry.
 * @param authenticate finds who asks; it throws what credentials are refused with
 */
export function createPageAccess(
  authenticate: (request: Pick<Call, "peer" | "header">) => Promise<Caller>,
  listenerOf: (request: FastifyRequest) => ListenerFacts,
): (request: FastifyRequest) => Promise<InfraError | undefined> {
  return async (request) => {
    try {
      const peer = peerFromRequest(request, listenerOf(request));
      const header = (name: string) => request.headers[name]?.toString();
      const { role } = await authenticate({ peer, header });
      return role === undefined
        ? new InfraError(
            "LOGIN_REQUIRED",
            "this page is for who is logged in; send `authorization: Bearer <token>`",
          )
        : undefined;
    } catch (error) {
      return infraErrorFrom(error);
    }
  };
}
