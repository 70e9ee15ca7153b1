import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { signal } from "@preact/signals";
import { createHostplaneClient } from "../client/client.ts";
import type { GetInfoResponse } from "../gen/hostplane/v1/system_pb.ts";
import type { GetCallerResponse, Role } from "../gen/hostplane/v1/user_pb.ts";

/** Who uses the page: not asked yet, nobody, or somebody with what the gateway says of them and of itself. */
export type Session =
  | { readonly state: "unknown"; readonly error?: unknown }
  | { readonly state: "out" }
  | { readonly state: "in"; readonly caller: GetCallerResponse; readonly info: GetInfoResponse };

export const session = signal<Session>({ state: "unknown" });

/** A login that has ended, elsewhere or by time, shows the login again instead of an error in each part of the page. */
const noticeEnd: Interceptor = (next) => async (request) => {
  try {
    const response = await next(request);
    return response.stream ? { ...response, message: noticeEndOf(response.message) } : response;
  } catch (error) {
    endSession(error);
    throw error;
  }
};

/** Streams tell how they end only behind their messages. */
async function* noticeEndOf<T>(messages: AsyncIterable<T>): AsyncGenerator<T, void> {
  try {
    yield* messages;
  } catch (error) {
    endSession(error);
    throw error;
  }
}

function endSession(error: unknown): void {
  if (ConnectError.from(error).code === Code.Unauthenticated && session.value.state === "in") {
    session.value = { state: "out" };
  }
}

/** The gateway that served this page. Its token is in a cookie that no script can read. */
export const client = createHostplaneClient({
  baseUrl: location.origin,
  session: "cookie",
  interceptors: [noticeEnd],
});

/** Asks the gateway who the page's user is. Without a login `session` is "out", also where the gateway is away: with the error. */
export async function resumeSession(): Promise<void> {
  try {
    const [caller, info] = await Promise.all([client.users.getCaller({}), client.system.getInfo({})]);
    session.value = { state: "in", caller, info };
  } catch (error) {
    session.value =
      ConnectError.from(error).code === Code.Unauthenticated ? { state: "out" } : { state: "unknown", error };
  }
}

/** @throws ConnectError UNAUTHENTICATED for a wrong name or password, RESOURCE_EXHAUSTED after too many of them */
export async function login(username: string, password: string): Promise<void> {
  await client.login(username, password);
  await resumeSession();
}

/** Ends the login, on the gateway as well. */
export async function logout(): Promise<void> {
  await client.logout();
  session.value = { state: "out" };
}

/** Whether the user has at least this role; nothing is hidden by it but what the gateway would refuse anyway. */
export function hasRole(role: Role): boolean {
  return session.value.state === "in" && session.value.caller.role >= role;
}
