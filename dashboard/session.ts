import type { Interceptor } from "@connectrpc/connect";
import { computed, signal } from "@preact/signals";
import { createHostplaneClient } from "../client/client.ts";
import { isLoginRefused } from "../client/is-login-refused.ts";
import type { GetInfoResponse } from "../gen/hostplane/v1/system_pb.ts";
import { type GetCallerResponse, Role } from "../gen/hostplane/v1/user_pb.ts";
import { noticeBackend } from "./backend.ts";
import { host } from "./host/host.ts";
import { createHostClient } from "./host/host-client.ts";
import { limitReads } from "./limit-reads.ts";

/** The page's user: not known yet, none, or logged in, with information from the gateway about them and about itself. */
export type Session =
  | { readonly state: "unknown"; readonly error?: unknown }
  /** `error` is what ended the login; absent when there was none, or when the user logged out. */
  | { readonly state: "out"; readonly error?: unknown }
  /** `info` is the gateway's that served the page, also on the page of a host. */
  | { readonly state: "in"; readonly caller: GetCallerResponse; readonly info: GetInfoResponse };

export const session = signal<Session>({ state: "unknown" });

/** Version of the gateway that served this page. */
const loadedVersion = signal<string | undefined>(undefined);

/** Whether the gateway has another version than the page. Parts that the page has not loaded yet are then gone. */
export const isOutdated = computed(() => {
  const current = session.value;
  return current.state === "in" && current.info.version !== loadedVersion.value;
});

/** Counts logins, so that a failing call from the previous login does not end the next. */
let loginNumber = 0;

/** When the login has ended, on the gateway or by time, shows the login page instead of errors all over the page. */
const noticeEnd: Interceptor = (next) => async (request) => {
  const mine = loginNumber;
  try {
    const response = await next(request);
    return response.stream ? { ...response, message: noticeEndOf(response.message, mine) } : response;
  } catch (error) {
    endSession(error, mine);
    throw error;
  }
};

/** Streams report their error only after their messages. */
async function* noticeEndOf<T>(messages: AsyncIterable<T>, ofLogin: number): AsyncGenerator<T, void> {
  try {
    yield* messages;
  } catch (error) {
    endSession(error, ofLogin);
    throw error;
  }
}

function endSession(error: unknown, ofLogin: number): void {
  if (isLoginRefused(error) && ofLogin === loginNumber && session.value.state === "in") {
    session.value = { state: "out", error };
  }
}

const streamWorker = () =>
  new SharedWorker(new URL("../client/shared-streams/stream-worker.ts", import.meta.url), {
    type: "module",
    name: "hostplane-streams",
  });

/**
 * Client of the gateway that served this page. The token is in a cookie that scripts cannot read. The streams of all windows share
 * one connection.
 */
export const gateway = createHostplaneClient({
  baseUrl: location.origin,
  session: "cookie",
  streamWorker,
  interceptors: [noticeEnd, ...(host === undefined ? [noticeBackend] : []), limitReads],
});

/** Client of what this page shows: the gateway, or a host of its fleet. */
export const client =
  host === undefined
    ? gateway
    : createHostClient(gateway, {
        baseUrl: `${location.origin}/hosts/${encodeURIComponent(host)}`,
        session: "cookie",
        streamWorker,
        interceptors: [noticeEnd, noticeBackend, limitReads],
      });

/**
 * Asks the gateway for the page's user. `session` becomes "out" without a login, and "unknown" with the error if the gateway is
 * away.
 */
export async function resumeSession(): Promise<void> {
  try {
    session.value = await fetchSession();
  } catch (error) {
    session.value = isLoginRefused(error) ? { state: "out" } : { state: "unknown", error };
  }
}

const retryMs = 1_000;
let refreshing = 0;

/**
 * Reads the user again, since the role or the gateway's version may have changed. Repeated until it succeeds: the page may still be
 * cut off when a stream, which the windows share, is back.
 */
export async function refreshSession(): Promise<void> {
  const mine = loginNumber;
  refreshing += 1;
  const latest = refreshing;
  while (latest === refreshing && mine === loginNumber && session.value.state === "in") {
    const fetched = await fetchSession().catch(() => undefined);
    if (fetched !== undefined) {
      if (mine === loginNumber && session.value.state === "in") {
        session.value = fetched;
      }
      return;
    }
    await new Promise((resolve) => void setTimeout(resolve, retryMs));
  }
}

async function fetchSession(): Promise<Session & { readonly state: "in" }> {
  // In sequence: without a login the first call is rejected, and there is no need to send the second.
  const caller = await gateway.users.getCaller({});
  const info = await gateway.system.getInfo({});
  loadedVersion.value ??= info.version;
  return { state: "in", caller, info };
}

/** @throws ConnectError UNAUTHENTICATED for wrong credentials, RESOURCE_EXHAUSTED after too many attempts */
export async function login(username: string, password: string): Promise<void> {
  await gateway.login(username, password);
  loginNumber += 1;
  await resumeSession();
}

/**
 * Ends the login, also on the gateway. After a login by an identity provider it opens the provider's page that ends the session
 * there, which leads back to this one.
 * @throws ConnectError when the gateway was not reached; the login then continues
 */
export async function logout(): Promise<void> {
  const endSessionUrl = await gateway.logout();
  if (endSessionUrl !== undefined) {
    location.assign(endSessionUrl);
  }
  session.value = { state: "out" };
}

/**
 * Reports whether the user has at least this role; an admin with grants administers only some services. Only hides actions that the
 * gateway would deny anyway.
 */
export function hasRole(role: Role): boolean {
  if (session.value.state !== "in") {
    return false;
  }
  const { role: own, grants } = session.value.caller;
  return own >= role && (role !== Role.ADMIN || grants.length === 0);
}
