import type { Interceptor } from "@connectrpc/connect";
import { computed, signal } from "@preact/signals";
import { createHostplaneClient } from "../client/client.ts";
import { isLoginRefused } from "../client/is-login-refused.ts";
import type { GetInfoResponse } from "../gen/hostplane/v1/system_pb.ts";
import type { GetCallerResponse, Role } from "../gen/hostplane/v1/user_pb.ts";
import { noticeBackend } from "./backend.ts";
import { limitReads } from "./limit-reads.ts";

/** Who uses the page: not asked yet, nobody, or somebody with what the gateway says of them and of itself. */
export type Session =
  | { readonly state: "unknown"; readonly error?: unknown }
  /** `error` is what has ended the login; absent when there was none, or when its user has ended it. */
  | { readonly state: "out"; readonly error?: unknown }
  | { readonly state: "in"; readonly caller: GetCallerResponse; readonly info: GetInfoResponse };

export const session = signal<Session>({ state: "unknown" });

/** The version of the gateway that this page is of. */
const loadedVersion = signal<string | undefined>(undefined);

/** Whether the gateway is another version than the page: what it has not loaded yet is not to be had any more. */
export const isOutdated = computed(() => {
  const current = session.value;
  return current.state === "in" && current.info.version !== loadedVersion.value;
});

/** Counts logins, so that what a call of the last one ends with does not end the next. */
let loginNumber = 0;

/** A login that has ended, elsewhere or by time, shows the login again instead of an error in each part of the page. */
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

/** Streams tell how they end only behind their messages. */
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

/** The gateway that served this page. Its token is in a cookie that no script can read. */
export const client = createHostplaneClient({
  baseUrl: location.origin,
  session: "cookie",
  interceptors: [noticeEnd, noticeBackend, limitReads],
});

/** Asks the gateway who the page's user is. Without a login `session` is "out", also where the gateway is away: with the error. */
export async function resumeSession(): Promise<void> {
  try {
    session.value = await askSession();
  } catch (error) {
    session.value = isLoginRefused(error) ? { state: "out" } : { state: "unknown", error };
  }
}

/** Asks again of a user who is in: the role may be another since, and so may the gateway. What was known stays if that fails. */
export async function refreshSession(): Promise<void> {
  const mine = loginNumber;
  const asked = await askSession().catch(() => undefined);
  if (asked !== undefined && mine === loginNumber && session.value.state === "in") {
    session.value = asked;
  }
}

async function askSession(): Promise<Session & { readonly state: "in" }> {
  // One after the other: without a login the first is refused, and a second refusal would be one of a stranger.
  const caller = await client.users.getCaller({});
  const info = await client.system.getInfo({});
  loadedVersion.value ??= info.version;
  return { state: "in", caller, info };
}

/** @throws ConnectError UNAUTHENTICATED for a wrong name or password, RESOURCE_EXHAUSTED after too many of them */
export async function login(username: string, password: string): Promise<void> {
  await client.login(username, password);
  loginNumber += 1;
  await resumeSession();
}

/**
 * Ends the login, on the gateway as well.
 * @throws ConnectError when the gateway could not be told, by which the login goes on
 */
export async function logout(): Promise<void> {
  await client.logout();
  session.value = { state: "out" };
}

/** Whether the user has at least this role; nothing is hidden by it but what the gateway would refuse anyway. */
export function hasRole(role: Role): boolean {
  return session.value.state === "in" && session.value.caller.role >= role;
}
