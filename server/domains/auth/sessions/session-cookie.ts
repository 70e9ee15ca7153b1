import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { Call } from "../../../rpc/call/call.ts";
import { isSameOrigin } from "../../../rpc/listener/browser-guard.ts";
import { rpcReasons } from "../../../rpc/reasons.ts";

/** The parts of a request that show its origin. */
export type RequestOrigin = Pick<Call, "peer" | "header">;

/** On Login, the value `cookie` requests a session cookie. */
const sessionHeader = "hostplane-session";

/** Content types that any page may send without a preflight (Fetch standard, CORS-safelisted request-header). */
const simpleContentTypes: ReadonlySet<string> = new Set([
  "application/x-www-form-urlencoded",
  "multipart/form-data",
  "text/plain",
]);

/**
 * Cookie name for pages served over TLS. With the prefix, browsers accept the cookie only from this exact host and only over
 * TLS (RFC 6265bis, 4.1.3.2), so that no neighboring host or port can set one.
 */
const secureName = "__Host-hostplane_session";
const plainName = "hostplane_session";
const sessionNames: readonly string[] = [secureName, plainName];

/**
 * Reports whether the browser loaded the gateway's page over TLS; undefined where nothing shows it. A TLS proxy in front of a
 * cleartext listener shows only in the page's Origin, which browsers send with every POST.
 */
function isSecurePage(request: RequestOrigin): boolean | undefined {
  if (request.peer.isTls) {
    return true;
  }
  return isOwnOrigin(request) ? request.header("origin")?.startsWith("https:") : undefined;
}

/** Returns the cookie names that are accepted, in order of preference. */
function countingNames(request: RequestOrigin): readonly string[] {
  const isSecure = isSecurePage(request);
  return isSecure === undefined ? [secureName, plainName] : [isSecure ? secureName : plainName];
}

/** Returns the session token from the cookie of a request. */
export function readSessionCookie(request: RequestOrigin): string | undefined {
  const cookies = cookiesOf(request, sessionNames);
  return countingNames(request)
    .map((name) => cookies.get(name))
    .find((token) => token !== undefined);
}

/** Returns the request's cookies with these names; the first one of each name counts. */
export function cookiesOf(
  request: Pick<RequestOrigin, "header">,
  names: readonly string[],
): ReadonlyMap<string, string> {
  const pairs = request.header("cookie")?.split(";") ?? [];
  const cookies = new Map<string, string>();
  for (const pair of pairs) {
    const [name = "", ...value] = pair.trim().split("=");
    if (names.includes(name) && value.length > 0 && !cookies.has(name)) {
      cookies.set(name, value.join("="));
    }
  }
  return cookies;
}

/**
 * Builds the header `set-cookie` that gives a browser a session cookie; scripts cannot read it.
 * @param page the request that the browser's page sent, or whether the page itself was requested over TLS
 */
export function sessionCookie(
  token: string,
  maxAgeMs: number,
  page: RequestOrigin | { readonly isTls: boolean },
): string {
  const isSecure = "isTls" in page ? page.isTls : isSecurePage(page) === true;
  return setCookie(isSecure ? secureName : plainName, token, maxAgeMs);
}

/** Builds the headers `set-cookie` that remove the browser's session cookies, including that of an earlier login without TLS. */
export function clearedSessionCookies(request: RequestOrigin): readonly string[] {
  return [...cookiesOf(request, sessionNames).keys()].map((name) => setCookie(name, "", 0));
}

/** Builds a header `set-cookie`; an age of 0 removes the cookie. Only our own pages can make browsers send it, and no script can read it. */
export function setCookie(name: string, value: string, maxAgeMs: number): string {
  const maxAge = Math.max(0, Math.floor(maxAgeMs / 1000));
  const secure = name.startsWith("__Host-") ? "; Secure" : "";
  return `${name}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure}`;
}

/**
 * Reports whether a Login requests a cookie instead of a token.
 * @throws InfraError MALFORMED_REQUEST for another value of the header; ORIGIN_NOT_ALLOWED for a foreign page, which
 * must not log its visitors in to an account of its own
 */
export function wantsSessionCookie(request: RequestOrigin): boolean {
  const value = request.header(sessionHeader);
  if (value === undefined) {
    return false;
  }
  if (value !== "cookie") {
    throw new InfraError(rpcReasons.MALFORMED_REQUEST, `${sessionHeader}: expected "cookie"`);
  }
  if (request.header("origin") !== undefined) {
    assertOwnOrigin(request);
  }
  return true;
}

/**
 * Refuses a request whose cookie may come from a foreign page, since browsers attach cookies to requests of any page. A
 * request must have a content type that needs a preflight (those of RPCs do), and come from our own origin, as shown by Origin
 * or Sec-Fetch-Site. A request without a body (GET) may lack both, because browsers omit Origin there.
 * @throws InfraError ORIGIN_NOT_ALLOWED
 */
export function assertOwnPage(request: RequestOrigin): void {
  const contentType = request.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (contentType !== undefined && simpleContentTypes.has(contentType)) {
    throw notOwn(`a request with the content type ${contentType} must not use a session cookie`);
  }
  if (request.header("origin") !== undefined) {
    assertOwnOrigin(request);
    return;
  }
  const site = request.header("sec-fetch-site");
  const isOwn = site === undefined ? contentType === undefined : site === "same-origin" || site === "none";
  if (!isOwn) {
    throw notOwn(
      "a session cookie is accepted only if Origin or Sec-Fetch-Site show a request from the gateway's own pages",
    );
  }
}

function assertOwnOrigin(request: RequestOrigin): void {
  if (!isOwnOrigin(request)) {
    throw notOwn(`the origin ${request.header("origin")} is not the origin of this gateway's pages`);
  }
}

function isOwnOrigin(request: RequestOrigin): boolean {
  return isSameOrigin(request.header("origin") ?? "", request.peer.authority, request.peer.isTls);
}

function notOwn(why: string): InfraError {
  return new InfraError(
    rpcReasons.ORIGIN_NOT_ALLOWED,
    `${why}; send the token in the authorization header instead`,
  );
}
