import { randomUUID } from "node:crypto";
import { hasReason, InfraError } from "../../../../adapters/host/infra-error.ts";
import { authReasons } from "../reasons.ts";
import type { SessionClaims } from "../sessions/session-token.ts";
import type { EndedProviderSession } from "../store/sessions.ts";
import { openLogin, sealLogin } from "./kept-login.ts";
import type { Provider } from "./provider.ts";
import type { ConfirmedLogin } from "./provider-connection.ts";
import type { ProviderLogout } from "./provider-logout.ts";
import { providerUserNames } from "./provider-user.ts";
import { createSessionChecks, type SessionChecks, type SessionChecksOptions } from "./session-checks.ts";
import { createTokenRevocations } from "./token-revocations.ts";

/** Options of `createProviderSessions`. */
export interface ProviderSessionsOptions extends Omit<SessionChecksOptions, "revocations"> {
  /** Lifetime of a session. */
  readonly lifetimeMs: number;
}

/** A session as the store opened it. */
export type OpenedSession = SessionClaims & { readonly userName: string };

/** Sessions of users of identity providers. */
export interface ProviderSessions extends Pick<SessionChecks, "use" | "close"> {
  /** @throws InfraError LOGIN_WITHOUT_ROLE, LOGIN_NOT_CHECKABLE */
  open(provider: Provider, login: ConfirmedLogin): Promise<OpenedSession>;
  /** Ends the sessions that a logout at the provider names. */
  end(provider: string, logout: ProviderLogout): Promise<void>;
  /**
   * Returns the URL at which a browser also ends its session at the provider. Undefined if the configuration does not ask for it,
   * if the provider has no such URL, or if it cannot be asked: the session here is over in any case.
   */
  endSessionUrl(ended: EndedProviderSession): Promise<string | undefined>;
  /** Begins to revoke the refresh tokens of ended sessions at their providers. Failures are only logged. */
  revokeTokens(ended: readonly EndedProviderSession[]): void;
}

/** The clocks of a provider and the store may differ by this. */
const clockDifferenceMs = 60_000;

/** @param options `lifetimeMs`: of a session, however often it is confirmed */
export function createProviderSessions(options: ProviderSessionsOptions): ProviderSessions {
  const { store, seal, refreshState, lifetimeMs } = options;
  const revocations = createTokenRevocations(options);
  const checks = createSessionChecks({ ...options, revocations });
  return {
    use: checks.use,
    revokeTokens: revocations.beginAll,
    async close() {
      await checks.close();
      await revocations.close();
    },

    async open(provider, { user, refreshToken, idToken }) {
      const access = provider.accessOf(user.groups);
      if (refreshToken === undefined) {
        throw new InfraError(
          authReasons.LOGIN_NOT_CHECKABLE,
          `the identity provider ${provider.name} issued no refresh token: allow refresh tokens (offline_access) for this client`,
        );
      }
      const sessionId = randomUUID();
      const opened = await store.run("providerSessions.open", {
        jti: sessionId,
        provider: provider.name,
        subject: user.subject,
        sid: user.sid,
        refreshTokenSealed: sealLogin(seal, { refreshToken, idToken }, sessionId),
        newUserId: randomUUID(),
        names: providerUserNames(user, provider.name),
        access,
        lifetimeMs,
      });
      revocations.beginAll(opened.expired);
      if (!opened.ok) {
        throw new Error("the user of a new session was removed at the same time");
      }
      await refreshState();
      checks.noteOpened(sessionId, provider.name);
      const { userId: accountId, userName, signingKeyId: keyId, issuedAtMs, expiresAtMs } = opened;
      return { sessionId, accountId, userName, keyId, issuedAtMs, expiresAtMs, provider: provider.name };
    },

    async endSessionUrl({ jti, provider: name, refreshTokenSealed }) {
      const provider = options.providers.get(name);
      if (provider?.endsSession !== true) {
        return undefined;
      }
      try {
        const { idToken } = openLogin(seal, refreshTokenSealed, jti);
        return (await provider.use((connection) => connection.endSessionUrl(idToken)))?.href;
      } catch (error) {
        if (!hasReason(error, authReasons.PROVIDER_UNAVAILABLE)) {
          options.onFailed(`the page that ends a session at ${name} is not known`, error);
        }
        return undefined;
      }
    },

    async end(provider, { subject, sid, issuedAtMs }) {
      // An old token must not end later logins.
      const which = { provider, subject, sid, begunUntilMs: issuedAtMs + clockDifferenceMs };
      const ended = await store.run("providerSessions.end", which);
      if (ended.length > 0) {
        revocations.beginAll(ended);
        await refreshState();
      }
    },
  };
}
