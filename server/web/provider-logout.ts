import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ListenerFacts } from "../rpc/call/listener-facts.ts";
import type { NodeRequest } from "../rpc/protocols/http/http-exchange.ts";
import { readBody } from "../rpc/protocols/http/read-body.ts";
import { peerFromRequest } from "../rpc/protocols/http/serve-request.ts";

export interface ProviderLogoutOptions {
  readonly listenerOf: (request: FastifyRequest) => ListenerFacts;
  /** Ends the sessions that a provider's logout token names. */
  readonly logOut: (
    provider: string,
    logoutToken: string,
    address: string,
    signal: AbortSignal,
  ) => Promise<"ended" | "refused" | "unavailable">;
}

/** A logout token has some hundred bytes, and a signature. */
const maxBodyBytes = 16_384;
const maxWaitMs = 10_000;

/**
 * Serves the URL that identity providers call when a user logs out or is removed there (OpenID Connect Back-Channel Logout 1.0,
 * 2.5). Anyone may call it; only a token that the provider has signed has an effect.
 */
export async function providerLogout(
  app: FastifyInstance,
  { listenerOf, logOut }: ProviderLogoutOptions,
): Promise<void> {
  app.post<{ Params: { provider: string } }>("/oidc/:provider/backchannel-logout", async (request, reply) => {
    const body = await readBody(request.raw as NodeRequest, maxBodyBytes, "plain");
    const token =
      body.byteLength > maxBodyBytes ? null : new URLSearchParams(body.toString()).get("logout_token");
    if (token === null) {
      return reply
        .code(400)
        .send(invalid(`expected a form with logout_token, of at most ${maxBodyBytes} bytes`));
    }
    const signal = AbortSignal.timeout(maxWaitMs);
    const { address } = peerFromRequest(request.raw, listenerOf(request));
    const result = await logOut(request.params.provider, token, address, signal);
    switch (result) {
      case "ended":
        return reply.code(200).send();
      case "refused":
        return reply.code(400).send(invalid("the logout token is not valid"));
      case "unavailable":
        return reply.code(503).header("retry-after", "5").send({ error: "temporarily_unavailable" });
    }
  });
}

/** Returns the error that the specification prescribes (2.8). */
function invalid(description: string) {
  return { error: "invalid_request", error_description: description };
}
