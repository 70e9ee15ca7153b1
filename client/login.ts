import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type Client, Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import type { AuthService, LoginResponse } from "../gen/services/auth/auth_pb.ts";
import { isLoginRefused } from "./is-login-refused.ts";

/**
 * A token, of an API token or of a login. A function is called before every call, and again after the gateway rejected its token.
 */
export type TokenSource = string | (() => string | undefined | Promise<string | undefined>);

export interface LoginOptions {
  /**
   * Keeps name and password in memory, and logs in again with them shortly before the login expires or when the gateway rejects
   * it. Default: false; calls then fail with UNAUTHENTICATED.
   */
  readonly keepLogin?: boolean;
}

export interface Login {
  /** Adds the token to every call, and retries a unary call with another token when the first one was rejected. */
  readonly interceptor: Interceptor;
  /** @throws ConnectError INVALID_CREDENTIALS, TOO_MANY_LOGINS or any other error of Login; the previous login is kept */
  readonly login: (username: string, password: string, options?: LoginOptions) => Promise<void>;
  /**
   * @returns the page at which the browser also ends its session at the identity provider; undefined if there is none
   * @throws ConnectError when the gateway was not reached: the token, and the browser's cookie, stay valid until they expire
   */
  readonly logout: () => Promise<string | undefined>;
}

/** How a call identifies its caller. */
interface Credential {
  /** Absent for a cookie, which the browser adds, and for anonymous calls. */
  readonly token?: string | undefined;
  /** The gateway no longer accepts it. */
  isRefused?: boolean;
}

interface CurrentLogin extends Credential {
  /** When a kept login is renewed, in the time of `Date.now()`. */
  readonly renewAtMs: number;
}

/** Share of its lifetime after which a login is renewed. The rest leaves time for a gateway that is unreachable for a while. */
const renewedShare = 0.9;

/** Limit for a renewal, so that calls waiting for it do not wait forever. */
const loginTimeoutMs = 30_000;

/**
 * @param auth a client without the interceptor
 * @param session where the token of a login is kept: in memory, or in a cookie that scripts cannot read
 */
export function createLogin(
  auth: Client<typeof AuthService>,
  session: "token" | "cookie",
  source: TokenSource | undefined,
): Login {
  let current: CurrentLogin | undefined;
  let kept: { readonly username: string; readonly password: string } | undefined;
  let renewal: Promise<void> | undefined;

  async function logIn(username: string, password: string): Promise<void> {
    const headers = session === "cookie" ? { "hostplane-session": "cookie" } : {};
    const response = await auth.login({ username, password }, { headers, timeoutMs: loginTimeoutMs });
    current = { token: session === "token" ? response.token : undefined, renewAtMs: renewalTimeMs(response) };
  }

  /** Renews the login. All callers that wait share one renewal. */
  function renew({ username, password }: NonNullable<typeof kept>): Promise<void> {
    renewal ??= logIn(username, password)
      .catch((error: unknown) => {
        // The password has changed: trying the old one again would only delay the next login.
        if (isUnauthenticated(error)) {
          kept = undefined;
        }
        throw error;
      })
      .finally(() => {
        renewal = undefined;
      });
    return renewal;
  }

  async function credential(): Promise<Credential> {
    if (current === undefined) {
      return { token: typeof source === "function" ? await source() : source };
    }
    if (kept !== undefined && current.isRefused === true) {
      await renew(kept);
    } else if (kept !== undefined && Date.now() >= current.renewAtMs) {
      // The login is still valid: no call waits, and if renewing fails, the next call tries again.
      renew(kept).catch(() => {});
    }
    // Anonymous again if `logout` was called during the renewal.
    return current ?? {};
  }

  const interceptor: Interceptor = (next) => async (request) => {
    if (request.header.has("authorization")) {
      return next(request);
    }
    const callAs = async (used: Credential) => {
      const note = (error: unknown) => {
        used.isRefused ||= isLoginRefused(error);
        return error;
      };
      if (used.token === undefined) {
        request.header.delete("authorization");
      } else {
        request.header.set("authorization", `Bearer ${used.token}`);
      }
      try {
        const response = await next(request);
        return response.stream ? { ...response, message: mapError(response.message, note) } : response;
      } catch (error) {
        throw note(error);
      }
    };
    const first = await credential();
    try {
      return await callAs(first);
    } catch (error) {
      // The request of a stream is used up. `resumeStream` opens its streams again.
      if (request.stream || first.isRefused !== true) {
        throw error;
      }
      const second = await credential();
      const isOther = second === current ? second !== first : second.token !== first.token;
      if (!isOther) {
        throw error;
      }
      return callAs(second);
    }
  };

  return {
    interceptor,
    async login(username, password, { keepLogin = false } = {}) {
      // Otherwise a running renewal would replace this login.
      await renewal?.catch(() => {});
      await logIn(username, password);
      kept = keepLogin ? { username, password } : undefined;
    },
    async logout() {
      kept = undefined;
      // Otherwise a running renewal would finish after the logout.
      await renewal?.catch(() => {});
      const token = current?.token;
      current = undefined;
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      let endSessionUrl: string | undefined;
      const onHeader = (header: Headers) => {
        endSessionUrl = header.get("hostplane-end-session-url") ?? undefined;
      };
      await auth.logout({}, { headers, onHeader }).catch((error: unknown) => {
        // The login has expired, or there was none.
        if (!isUnauthenticated(error)) {
          throw error;
        }
      });
      return endSessionUrl;
    },
  };
}

/**
 * Uses the local clock. If it is ahead by more than the login's lifetime, there is no renewal until the gateway rejects the
 * token.
 */
function renewalTimeMs({ expires }: LoginResponse): number {
  const now = Date.now();
  const lifetimeMs = expires?.timestamp === undefined ? 0 : timestampMs(expires.timestamp) - now;
  return lifetimeMs > 0 ? now + lifetimeMs * renewedShare : Number.POSITIVE_INFINITY;
}

function isUnauthenticated(error: unknown): boolean {
  return ConnectError.from(error).code === Code.Unauthenticated;
}

async function* mapError<T>(
  messages: AsyncIterable<T>,
  map: (error: unknown) => unknown,
): AsyncGenerator<T, void> {
  try {
    yield* messages;
  } catch (error) {
    throw map(error);
  }
}
