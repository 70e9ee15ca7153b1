import { hasReason, InfraError } from "../../../adapters/host/infra-error.ts";
import { anonymous, type Caller } from "../../rpc/call/caller.ts";
import type { AuthState } from "./auth-state.ts";
import { type Callers, callerOfListener } from "./callers.ts";
import { authReasons } from "./reasons.ts";
import { assertOwnPage, type RequestOrigin, readSessionCookie } from "./sessions/session-cookie.ts";
import type { TokenUse } from "./tokens/token-use.ts";

export interface AuthenticateOptions {
  readonly state: Pick<AuthState, "isShared" | "refresh">;
  readonly callers: Callers;
  readonly tokenUse: Pick<TokenUse, "note">;
  /** Finds the caller that a hub names, on the connection of an agent to its hub. */
  readonly authenticateHub: (request: Pick<RequestOrigin, "header">) => Caller;
}

/**
 * Determines the caller of an RPC or a page. The first of these that is present decides: the access that the listener grants
 * to everyone, the header `authorization`, the session cookie, the client certificate. Synchronous unless a signature must be
 * verified. Rejects with InfraErrors: TOKEN_INVALID, TOKEN_EXPIRED, TOKEN_REVOKED, CERTIFICATE_UNKNOWN, ORIGIN_NOT_ALLOWED for
 * a cookie, STORE_UNAVAILABLE.
 */
export type AuthenticateRequest = (request: RequestOrigin) => Caller | Promise<Caller>;

/**
 * @param options with a shared store, `state` is refreshed for an unknown token or certificate: another gateway may have just
 * created it
 */
export function createAuthenticate({
  state,
  callers,
  tokenUse,
  authenticateHub,
}: AuthenticateOptions): AuthenticateRequest {
  function callerByCredentials(request: RequestOrigin): Caller | Promise<Caller> {
    const { peer } = request;
    const authorization = request.header("authorization");
    if (authorization !== undefined) {
      const token = bearerTokenOf(authorization);
      if (token === undefined) {
        throw new InfraError(
          authReasons.TOKEN_INVALID,
          "the authorization header must have the form `Bearer <token>`",
        );
      }
      return callers.ofToken(token, "header");
    }
    const cookie = readSessionCookie(request);
    if (cookie !== undefined) {
      assertOwnPage(request);
      return callers.ofToken(cookie, "cookie");
    }
    return peer.certificate === undefined ? anonymous : callers.ofCertificate(peer.certificate);
  }

  async function recheckCredentials(request: RequestOrigin, error: unknown): Promise<Caller> {
    const isUnknown = hasReason(error, authReasons.TOKEN_INVALID, authReasons.CERTIFICATE_UNKNOWN);
    if (!state.isShared || !isUnknown) {
      throw error;
    }
    // Another gateway may have just created the user, the token or the key.
    await state.refresh();
    return noted(await callerByCredentials(request));
  }

  function noted(caller: Caller): Caller {
    if (caller.credential === "apiToken") {
      tokenUse.note(caller.accountId);
    }
    return caller;
  }

  return (request) => {
    const everybody = callerOfListener(request.peer);
    if (everybody !== undefined) {
      return everybody;
    }
    const { access } = request.peer;
    if (access === "hub") {
      return authenticateHub(request);
    }
    if (access === "agents") {
      // The certificate on such a connection is a host's, and no user has it.
      return anonymous;
    }
    try {
      const caller = callerByCredentials(request);
      return caller instanceof Promise
        ? caller.then(noted, (error) => recheckCredentials(request, error))
        : noted(caller);
    } catch (error) {
      return recheckCredentials(request, error);
    }
  };
}

const scheme = "bearer ";

/**
 * Returns the token of `Bearer <token>` (RFC 6750, 2.1; schemes are case-insensitive: RFC 9110, 11.1); undefined for any other
 * header. A regular expression would scan some 300 characters on every call.
 */
function bearerTokenOf(authorization: string): string | undefined {
  const text = authorization.trim();
  const token = text.slice(scheme.length).trimStart();
  const isBearer = text.slice(0, scheme.length).toLowerCase() === scheme;
  return isBearer && token !== "" && !token.includes(" ") && !token.includes(",") ? token : undefined;
}
