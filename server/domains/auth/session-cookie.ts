import { InfraError } from "../../../adapters/host/infra-error.ts";
import { isSameOrigin } from "../../rpc/browser-guard.ts";
import type { Call } from "../../rpc/call.ts";

/** What a request says of where it comes from. */
export type RequestOrigin = Pick<Call, "peer" | "header">;

/** With the value `cookie` on Login the session is a cookie. */
const sessionHeader = "hostplane-session";

/** What forms and scripts of any page may send without asking first (Fetch standard, CORS-safelisted request-header). */
const simpleContentTypes: ReadonlySet<string> = new Set([
  "application/x-www-form-urlencoded",
  "multipart/form-data",
  "text/plain",
]);

/**
 * Of pages that browsers have by TLS: the prefix makes them take the cookie from this very host and over TLS alone
 * (RFC 6265bis, 4.1.3.2), so that no neighbouring name or port can plant one.
 */
const secureName = "__Host-hostplane_session";
const plainName = "hostplane_session";

/**
 * Whether the browser has the gateway's page by TLS; undefined where nothing says so. A proxy that speaks TLS for a cleartext
 * listener shows in the page's Origin alone, which browsers send with every POST.
 */
function isSecurePage(request: RequestOrigin): boolean | undefined {
  if (request.peer.isTls) {
    return true;
  }
  return isOwnOrigin(request) ? request.header("origin")?.startsWith("https:") : undefined;
}

/** The names under which a session counts, the better one first. */
function countingNames(request: RequestOrigin): readonly string[] {
  const isSecure = isSecurePage(request);
  return isSecure === undefined ? [secureName, plainName] : [isSecure ? secureName : plainName];
}

/** The session's token in the cookie of a request. */
export function readSessionCookie(request: RequestOrigin): string | undefined {
  const cookies = cookiesOf(request);
  return countingNames(request)
    .map((name) => cookies.get(name))
    .find((token) => token !== undefined);
}

/** What a request has of each of the two; the first where there are several. */
function cookiesOf(request: RequestOrigin): ReadonlyMap<string, string> {
  const pairs = request.header("cookie")?.split(";") ?? [];
  const cookies = new Map<string, string>();
  for (const pair of pairs) {
    const [name = "", ...value] = pair.trim().split("=");
    if ((name === secureName || name === plainName) && value.length > 0 && !cookies.has(name)) {
      cookies.set(name, value.join("="));
    }
  }
  return cookies;
}

/** The header `set-cookie` that gives a browser a session; no script can read it. */
export function sessionCookie(token: string, maxAgeMs: number, request: RequestOrigin): string {
  return setCookie(isSecurePage(request) === true ? secureName : plainName, token, maxAgeMs);
}

/** The headers `set-cookie` that take away what the browser has, also of an earlier login of the same host without TLS. */
export function clearedSessionCookies(request: RequestOrigin): readonly string[] {
  return [...cookiesOf(request).keys()].map((name) => setCookie(name, "", 0));
}

function setCookie(name: string, token: string, maxAgeMs: number): string {
  const maxAge = Math.max(0, Math.floor(maxAgeMs / 1000));
  const secure = name === secureName ? "; Secure" : "";
  return `${name}=${token}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure}`;
}

/**
 * Whether a Login asks for a cookie instead of a token.
 * @throws InfraError MALFORMED_REQUEST for another value of the header; ORIGIN_NOT_ALLOWED for a foreign page, which
 *   must not log its visitors in to an account of its own
 */
export function wantsSessionCookie(request: RequestOrigin): boolean {
  const value = request.header(sessionHeader);
  if (value === undefined) {
    return false;
  }
  if (value !== "cookie") {
    throw new InfraError("MALFORMED_REQUEST", `${sessionHeader}: expected cookie`);
  }
  if (request.header("origin") !== undefined) {
    assertOwnOrigin(request);
  }
  return true;
}

/**
 * Refuses a request whose cookie a foreign page may have sent along, as browsers do for any page. What a page cannot
 * send without being asked first (a content type of RPCs) must also come from our own origin: by its Origin, or by the
 * browser's word in Sec-Fetch-Site. A request without a body (GET) need not say, as browsers leave Origin out of it.
 * @throws InfraError ORIGIN_NOT_ALLOWED
 */
export function assertOwnPage(request: RequestOrigin): void {
  const contentType = request.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (contentType !== undefined && simpleContentTypes.has(contentType)) {
    throw notOwn(`the content type ${contentType} takes no session cookie`);
  }
  if (request.header("origin") !== undefined) {
    assertOwnOrigin(request);
    return;
  }
  const site = request.header("sec-fetch-site");
  const isOwn = site === undefined ? contentType === undefined : site === "same-origin" || site === "none";
  if (!isOwn) {
    throw notOwn(
      "a session cookie counts only where Origin or Sec-Fetch-Site say that the gateway's own page asks",
    );
  }
}

function assertOwnOrigin(request: RequestOrigin): void {
  if (!isOwnOrigin(request)) {
    throw notOwn(`the origin ${request.header("origin")} is not that of this gateway's pages`);
  }
}

function isOwnOrigin(request: RequestOrigin): boolean {
  return isSameOrigin(request.header("origin") ?? "", request.peer.authority, request.peer.isTls);
}

function notOwn(why: string): InfraError {
  return new InfraError("ORIGIN_NOT_ALLOWED", `${why}; send the token as the header authorization instead`);
}
