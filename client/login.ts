import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type Client, Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import type { AuthService, LoginResponse } from "../gen/services/auth/auth_pb.ts";

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
  /** Ends the login here in any case. @throws ConnectError when the gateway could not be told, which takes it until it expires */
  readonly logout: () => Promise<void>;
}

/** What a call shows of who makes it. */
interface Credential {
  /** Absent for a cookie, which the browser adds. */
  readonly token?: string;
}

interface CurrentLogin extends Credential {
  /** When a kept login is renewed, as of `Date.now()`. */
  readonly renewAtMs: number;
}

/** A tenth of its time before a login ends it is renewed, so that the gateway can be away for a while. */
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
  let refused: Credential | undefined;
  let kept: { readonly username: string; readonly password: string } | undefined;
  let renewal: Promise<void> | undefined;

  async function logIn(username: string, password: string): Promise<void> {
    const headers = session === "cookie" ? { "hostplane-session": "cookie" } : {};
    const response = await auth.login({ username, password }, { headers, timeoutMs: loginTimeoutMs });
    current = { ...(session === "token" && { token: response.token }), renewAtMs: renewalTimeMs(response) };
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
      const token = typeof source === "function" ? await source() : source;
      return token === undefined ? {} : { token };
    }
    const isRefused = current === refused;
    if (kept !== undefined && (isRefused || Date.now() >= current.renewAtMs)) {
      await renew(kept).catch((error: unknown) => {
        // What is only due to be renewed is still good.
        if (isRefused) {
          throw error;
        }
      });
    }
    return current;
  }

  const interceptor: Interceptor = (next) => async (request) => {
    if (request.header.has("authorization")) {
      return next(request);
    }
    const send = (used: Credential) => {
      if (used.token !== undefined) {
        request.header.set("authorization", `Bearer ${used.token}`);
      }
      return next(request);
    };
    const note = (error: unknown, used: Credential) => {
      if (isUnauthenticated(error)) {
        refused = used;
      }
    };
    const used = await credential();
    try {
      const response = await send(used);
      return response.stream
        ? { ...response, message: onError(response.message, (error) => note(error, used)) }
        : response;
    } catch (error) {
      note(error, used);
      if (request.stream || !isUnauthenticated(error)) {
        throw error;
      }
      const other = await credential();
      if (other === used || (other.token !== undefined && other.token === used.token)) {
        throw error;
      }
      return send(other);
    }
  };

  return {
    interceptor,
    async login(username, password, { keepLogin = false } = {}) {
      await logIn(username, password);
      kept = keepLogin ? { username, password } : undefined;
    },
    async logout() {
      const { token } = await credential();
      kept = undefined;
      await renewal?.catch(() => {});
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

async function* onError<T>(
  messages: AsyncIterable<T>,
  tell: (error: unknown) => void,
): AsyncGenerator<T, void> {
  try {
    yield* messages;
  } catch (error) {
    tell(error);
    throw error;
  }
}
