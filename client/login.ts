import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type Client, Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import type { AuthService, LoginResponse } from "../gen/services/auth/auth_pb.ts";
import { isLoginRefused } from "./is-login-refused.ts";

/** An API token or a login's. A function is asked before every call, and again when the gateway refused what it gave. */
export type TokenSource = string | (() => string | undefined | Promise<string | undefined>);

export interface LoginOptions {
  /**
   * Keep name and password, in memory alone, and log in again with them shortly before the login ends, or when the gateway does
   * not take it any more. Default: false, by which calls end with UNAUTHENTICATED then.
   */
  readonly keepLogin?: boolean;
}

export interface Login {
  /** Gives every call its token, and makes a unary one a second time with another token when it was refused for the first. */
  readonly interceptor: Interceptor;
  /** @throws ConnectError INVALID_CREDENTIALS, TOO_MANY_LOGINS and whatever else Login ends with; the login before is kept */
  readonly login: (username: string, password: string, options?: LoginOptions) => Promise<void>;
  /** @throws ConnectError when the gateway could not be told: it takes the token, and a browser sends the cookie, until that expires */
  readonly logout: () => Promise<void>;
}

/** What a call shows of who makes it. */
interface Credential {
  /** Absent for a cookie, which the browser adds, and for nobody. */
  readonly token?: string | undefined;
  /** The gateway does not take it any more. */
  isRefused?: boolean;
}

interface CurrentLogin extends Credential {
  /** When a kept login is renewed, as of `Date.now()`. */
  readonly renewAtMs: number;
}

/** Share of its time after which a login is renewed, so that the gateway can be away for a while before it ends. */
const renewedShare = 0.9;

/** One who waits for a renewal is not kept waiting for ever. */
const loginTimeoutMs = 30_000;

/**
 * @param auth a client without the interceptor
 * @param session where the token of a login is kept: here, or in a cookie that no script can read
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

  /** One login for all who wait for it. */
  function renew({ username, password }: NonNullable<typeof kept>): Promise<void> {
    renewal ??= logIn(username, password)
      .catch((error: unknown) => {
        // Another password meanwhile: asking again with this one only makes the next login wait.
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
      // What is due to be renewed is still good: nobody waits, and if it fails the next call tries again.
      renew(kept).catch(() => {});
    }
    // Nobody's again, if it was ended while it was renewed.
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
      // A stream has used up its request; those that are resumed are begun again by who resumes them.
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
      // One that is on its way would otherwise take the place of this one.
      await renewal?.catch(() => {});
      await logIn(username, password);
      kept = keepLogin ? { username, password } : undefined;
    },
    async logout() {
      kept = undefined;
      // A login that is on its way would otherwise come after its end.
      await renewal?.catch(() => {});
      const token = current?.token;
      current = undefined;
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      await auth.logout({}, { headers }).catch((error: unknown) => {
        // It has expired, or there was none.
        if (!isUnauthenticated(error)) {
          throw error;
        }
      });
    },
  };
}

/** By the clock here; one that is ahead by more than the login lasts leaves it to the gateway to refuse what has expired. */
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
