import { randomUUID } from "node:crypto";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { Caller } from "../../rpc/caller.ts";
import type { Store } from "../../store/store.ts";
import type { AuthUser } from "./accounts.ts";
import type { AuthState } from "./auth-state.ts";
import type { Callers } from "./callers.ts";
import { loginTurns, verifyPasswordInTurn } from "./password.ts";
import type { SessionTokens } from "./session-token.ts";
import type { GuardPassword } from "./users.ts";

export interface LoginsOptions {
  readonly store: Pick<Store, "run">;
  readonly state: AuthState;
  readonly callers: Callers;
  readonly sessionTokens: SessionTokens;
  readonly guardPassword: GuardPassword;
  /** How long a session lasts. */
  readonly lifetimeMs: number;
}

/** Who wants to log in. */
export interface LoginAttempt {
  readonly name: string;
  readonly password: string;
  readonly address: string;
  /** The admin socket's are not counted: who can open it may do anything already. */
  readonly isThrottled: boolean;
}

/** A session that has begun. */
export interface Session {
  readonly token: string;
  readonly accountId: string;
  readonly expiresAtMs: number;
}

export interface Logins {
  /**
   * Exchanges name and password for a session. A user who does not exist or has no password takes as long.
   * @throws InfraError INVALID_CREDENTIALS, TOO_MANY_LOGINS, BUSY, STORE_UNAVAILABLE, and the signal's while it waits
   */
  logIn(attempt: LoginAttempt, signal: AbortSignal): Promise<Session>;
  /**
   * Begins a session of a user without a password, for who may read everything here anyway.
   * @throws InfraError USER_NOT_FOUND
   */
  begin(name: string): Promise<Session>;
  /** Ends the caller's session, here at once and soon on other replicas; false for who has none. */
  logOut(caller: Caller): Promise<boolean>;
  /** Whether a token would be accepted now, by what the store holds at this moment. @throws InfraError STORE_UNAVAILABLE */
  isAccepted(token: string): Promise<boolean>;
}

export function createLogins(options: LoginsOptions): Logins {
  const { store, state, callers, sessionTokens, guardPassword, lifetimeMs } = options;

  /** @returns undefined when the user is gone or has another password by now */
  async function open(user: AuthUser): Promise<Session | undefined> {
    const { id: userId, passwordHash = null } = user;
    const opened = await store.run("sessions.open", { userId, passwordHash, lifetimeMs });
    if (!opened.ok) {
      return undefined;
    }
    const { signingKeyId: keyId, issuedAtMs, expiresAtMs } = opened;
    if (state.signingKey(keyId) === undefined) {
      // Another gateway has changed the key just now.
      await state.refresh();
    }
    const claims = { sessionId: randomUUID(), accountId: userId, issuedAtMs, expiresAtMs, keyId };
    return { token: await sessionTokens.sign(claims), accountId: userId, expiresAtMs };
  }

  return {
    async logIn({ name, password, address, isThrottled }, signal) {
      let user: AuthUser | undefined;
      async function verify(): Promise<boolean> {
        // Another gateway may have changed the password just now.
        await state.refresh();
        user = state.userByName(name);
        return loginTurns.run(() => verifyPasswordInTurn(user?.passwordHash, password), signal);
      }
      const isRight = isThrottled ? await guardPassword({ name, address }, verify) : await verify();
      const session = isRight && user !== undefined ? await open(user) : undefined;
      if (session === undefined) {
        throw new InfraError("INVALID_CREDENTIALS", "user name or password is wrong");
      }
      return session;
    },

    async begin(name) {
      await state.refresh();
      const user = state.userByName(name);
      const session = user === undefined ? undefined : await open(user);
      if (session === undefined) {
        throw new InfraError("USER_NOT_FOUND", `there is no user ${name}`, { resource: `users/${name}` });
      }
      return session;
    },

    async logOut({ sessionId, accountId, expiresAtMs }) {
      if (sessionId === undefined || expiresAtMs === undefined) {
        return false;
      }
      await store.run("sessions.revoke", { jti: sessionId, accountId, expiresAtMs });
      await state.refresh();
      return true;
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
