import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { CallerRole } from "../../rpc/access/caller-role.ts";
import type { Peer } from "../../rpc/call/call.ts";
import { anonymous, type Caller } from "../../rpc/call/caller.ts";
import type { ClientCertificate } from "../../rpc/protocols/http/client-certificate.ts";
import type { AuthUser } from "./accounts.ts";
import type { AuthState } from "./auth-state.ts";
import type { ProviderSessions } from "./providers/provider-sessions.ts";
import { authReasons } from "./reasons.ts";
import { assertNotExpired, type SessionClaims, type SessionTokens } from "./sessions/session-token.ts";
import { isApiToken } from "./tokens/api-token-text.ts";
import { apiTokenPrefix, hashToken } from "./tokens/token-hash.ts";

/** Finds callers by their credentials. `current()` of a caller checks the credential again. */
export interface Callers {
  /**
   * Finds the caller of a session token (in a header or a cookie) or an API token (in a header only). Synchronous unless a
   * signature must be verified or an identity provider must confirm the session. For any text, it only fails with the InfraErrors
   * TOKEN_INVALID, TOKEN_EXPIRED and TOKEN_REVOKED, and STORE_UNAVAILABLE.
   */
  ofToken(token: string, carrier: "header" | "cookie"): Caller | Promise<Caller>;
  /** @throws InfraError CERTIFICATE_UNKNOWN, TOKEN_EXPIRED */
  ofCertificate(certificate: ClientCertificate): Caller;
}

/** @param providerSessions asked for a session of an identity provider, which may have to be confirmed there */
export function createCallers(
  state: AuthState,
  sessionTokens: SessionTokens,
  providerSessions: Pick<ProviderSessions, "use">,
): Callers {
  function ofUser(
    { id, name, role, services, grants }: AuthUser,
    {
      credential,
      sessionId,
      expiresAtMs,
      current,
    }: Omit<Caller, "actor" | "accountId" | "role" | "services" | "grants">,
  ): Caller {
    const actor = `user/${name}`;
    return { actor, accountId: id, role, services, grants, credential, sessionId, expiresAtMs, current };
  }

  function ofSession(claims: SessionClaims, credential: "session" | "cookie"): Caller {
    const { sessionId, accountId, expiresAtMs } = claims;
    assertNotExpired(claims);
    const user = state.userById(accountId);
    if (user === undefined) {
      throw new InfraError(authReasons.TOKEN_INVALID, "the token was rejected: its user no longer exists");
    }
    const isBefore = claims.issuedAtMs <= user.tokensNotBeforeMs && sessionId !== user.keptSession;
    if (isBefore || state.isRevoked(sessionId)) {
      throw new InfraError(authReasons.TOKEN_REVOKED, "the session was ended");
    }
    const current = () => {
      // Keeps the session of an open stream in use. A check that fails ends the session, which the next call here finds.
      checkSession(claims)?.catch(() => {});
      return ofSession(claims, credential);
    };
    return ofUser(user, { credential, sessionId, expiresAtMs, current });
  }

  /** Returns a promise if the identity provider must confirm the session first. */
  function checkSession({ provider, sessionId }: SessionClaims): Promise<void> | undefined {
    return provider === undefined ? undefined : providerSessions.use(sessionId, provider);
  }

  function ofCheckedSession(
    claims: SessionClaims,
    credential: "session" | "cookie",
  ): Caller | Promise<Caller> {
    const caller = ofSession(claims, credential);
    return checkSession(claims)?.then(() => ofSession(claims, credential)) ?? caller;
  }

  function ofApiToken(hash: Uint8Array): Caller {
    const token = state.apiTokenByHash(hash);
    if (token === undefined) {
      throw new InfraError(authReasons.TOKEN_INVALID, "the token was rejected: no such API token");
    }
    if (token.isRevoked) {
      throw new InfraError(authReasons.TOKEN_REVOKED, "the API token was revoked");
    }
    assertNotExpired(token);
    const { id, name, role, services, grants, expiresAtMs } = token;
    return {
      actor: `token/${name}`,
      accountId: id,
      role,
      services,
      grants,
      credential: "apiToken",
      sessionId: undefined,
      expiresAtMs,
      // Uses the hash in memory; the call's own would be retained for as long as a stream is open.
      current: () => ofApiToken(token.hash),
    };
  }

  function ofCertificate(certificate: ClientCertificate): Caller {
    const { names, expiresAtMs } = certificate;
    assertNotExpired(certificate);
    for (const name of names) {
      const user = state.userByCertificateName(name);
      if (user !== undefined) {
        const current = () => ofCertificate(certificate);
        return ofUser(user, { credential: "certificate", sessionId: undefined, expiresAtMs, current });
      }
    }
    throw new InfraError(authReasons.CERTIFICATE_UNKNOWN, "no user has a name of the client certificate");
  }

  function ofSessionToken(token: string, credential: "session" | "cookie"): Caller | Promise<Caller> {
    const claims = sessionTokens.verify(token);
    return claims instanceof Promise
      ? claims.then((verified) => ofCheckedSession(verified, credential))
      : ofCheckedSession(claims, credential);
  }

  return {
    ofToken(token, carrier) {
      if (carrier === "cookie") {
        return ofSessionToken(token, "cookie");
      }
      if (!token.startsWith(apiTokenPrefix)) {
        return ofSessionToken(token, "session");
      }
      if (!isApiToken(token)) {
        throw new InfraError(
          authReasons.TOKEN_INVALID,
          "the token was rejected: it is truncated or mistyped",
        );
      }
      return ofApiToken(hashToken(token));
    },
    ofCertificate,
  };
}

/** Returns the caller for a listener that requires no login; undefined where one is required. */
export function callerOfListener({ access, listener }: Peer): Caller | undefined {
  switch (access) {
    case "login":
    case "agents":
    case "hub":
      return undefined;
    case "adminSocket":
      return everybody("admin-socket", "admin", "adminSocket");
    default:
      return everybody(`listener/${listener}`, access, "listener");
  }
}

function everybody(actor: string, role: CallerRole, credential: "listener" | "adminSocket"): Caller {
  const caller: Caller = { ...anonymous, actor, role, credential, current: () => caller };
  return caller;
}
