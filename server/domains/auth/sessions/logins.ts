import { randomUUID } from "node:crypto";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { Caller } from "../../../rpc/call/caller.ts";
import type { Store } from "../../../store/store.ts";
import type { AuthUser } from "../accounts.ts";
import type { AuthState } from "../auth-state.ts";
import type { Callers } from "../callers.ts";
import { loginTurns, verifyPasswordInTurn } from "../password.ts";
import type { ProviderSessions } from "../providers/provider-sessions.ts";
import { authReasons } from "../reasons.ts";
import type { GuardPassword } from "../users.ts";
import type { SessionTokens } from "./session-token.ts";

export interface LoginsOptions {
  readonly store: Pick<Store, "run">;
  readonly state: AuthState;
  readonly callers: Callers;
  readonly sessionTokens: SessionTokens;
  readonly guardPassword: GuardPassword;
  readonly providerSessions: Pick<ProviderSessions, "endSessionUrl" | "revokeTokens">;
  /** Lifetime of a session. */
  readonly lifetimeMs: number;
}

/** An attempt to log in. */
export interface LoginAttempt {
  readonly name: string;
  readonly password: string;
  readonly address: string;
  /** False for the admin socket: its users already have full access. */
  readonly isThrottled: boolean;
}

/** A session that was started. */
export interface Session {
  readonly token: string;
  readonly accountId: string;
  readonly expiresAtMs: number;
}

/** A session that was ended. */
export interface EndedSession {
  /** URL at which a browser also ends its session at the identity provider; undefined if there is none. */
  readonly endSessionUrl: string | undefined;
}

export interface Logins {
  /**
   * Exchanges name and password for a session. Unknown users and users without a password take as long as others.
   * @throws InfraError INVALID_CREDENTIALS, TOO_MANY_LOGINS, BUSY, STORE_UNAVAILABLE, and the signal's reason while queued
   */
  logIn(attempt: LoginAttempt, signal: AbortSignal): Promise<Session>;
  /**
   * Starts a session of a user without a password, for operators who already have access to all data.
   * @throws InfraError USER_NOT_FOUND
   */
  begin(name: string): Promise<Session>;
  /** Ends the caller's session, here immediately and soon on other replicas. Undefined if the caller has no session. */
  logOut(caller: Caller): Promise<EndedSession | undefined>;
  /** Reports whether a token is accepted, based on the current content of the store. @throws InfraError STORE_UNAVAILABLE */
  isAccepted(token: string): Promise<boolean>;
}

/** @param options `guardPassword` counts failed attempts and refuses further ones */
export function createLogins(options: LoginsOptions): Logins {
  const { store, state, callers, sessionTokens, guardPassword, providerSessions, lifetimeMs } = options;

  /** @returns undefined when the user no longer exists or has changed the password */
  async function open(user: AuthUser): Promise<Session | undefined> {
    const { id: userId, passwordHash = null } = user;
    const opened = await store.run("sessions.open", { userId, passwordHash, lifetimeMs });
    if (!opened.ok) {
      return undefined;
    }
    const { signingKeyId: keyId, issuedAtMs, expiresAtMs } = opened;
    if (state.signingKey(keyId) === undefined) {
      // Another gateway may have just rotated the key.
      await state.refresh();
    }
    const claims = { sessionId: randomUUID(), accountId: userId, issuedAtMs, expiresAtMs, keyId };
    return { token: await sessionTokens.sign(claims), accountId: userId, expiresAtMs };
  }

  return {
    async logIn({ name, password, address, isThrottled }, signal) {
      let user: AuthUser | undefined;
      async function verify(): Promise<boolean> {
        // Another gateway may have just changed the password.
        await state.refresh();
        user = state.userByName(name);
        return loginTurns.run(() => verifyPasswordInTurn(user?.passwordHash, password), signal);
      }
      const isRight = isThrottled ? await guardPassword({ name, address }, verify) : await verify();
      const session = isRight && user !== undefined ? await open(user) : undefined;
      if (session === undefined) {
        throw new InfraError(authReasons.INVALID_CREDENTIALS, "wrong user name or password");
      }
      return session;
    },

    async begin(name) {
      await state.refresh();
      const user = state.userByName(name);
      const session = user === undefined ? undefined : await open(user);
      if (session === undefined) {
        throw new InfraError(authReasons.USER_NOT_FOUND, `user ${name} not found`, {
          resource: `users/${name}`,
        });
      }
      return session;
    },

    async logOut({ sessionId, accountId, expiresAtMs, credential }) {
      if (sessionId === undefined || expiresAtMs === undefined) {
        return undefined;
      }
      const ofProvider = await store.run("sessions.revoke", { jti: sessionId, accountId, expiresAtMs });
      providerSessions.revokeTokens(ofProvider === undefined ? [] : [ofProvider]);
      await state.refresh();
      const hasPage = ofProvider !== undefined && credential === "cookie";
      return { endSessionUrl: hasPage ? await providerSessions.endSessionUrl(ofProvider) : undefined };
    },

    async isAccepted(token) {
      await state.refresh();
      try {
        await callers.ofToken(token, "header");
        return true;
      } catch (error) {
        if (error instanceof InfraError && error.code === "UNAUTHENTICATED") {
          return false;
        }
        throw error;
      }
    },
  };
}
