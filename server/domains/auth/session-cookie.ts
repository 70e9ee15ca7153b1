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
 * Over TLS the name has a prefix by which browsers take the cookie from this very host and over TLS alone (RFC 6265bis,
 * 4.1.3.2), so that no neighbouring name can plant one.
 */
function cookieNameOf(isTls: boolean): string {
  return isTls ? "__Host-hostplane_session" : "hostplane_session";
}

/** The session's token in the cookie of a request. */
export function readSessionCookie({ peer, header }: RequestOrigin): string | undefined {
  const prefix = `${cookieNameOf(peer.isTls)}=`;
  const pairs = header("cookie")?.split(";") ?? [];
  return pairs
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(prefix))
    ?.slice(prefix.length);
}

/** The header `set-cookie` that gives a browser a session; no script can read it. */
export function sessionCookie(token: string, maxAgeMs: number, isTls: boolean): string {
  const maxAge = Math.max(0, Math.floor(maxAgeMs / 1000));
  const secure = isTls ? "; Secure" : "";
  return `${cookieNameOf(isTls)}=${token}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure}`;
}

/** The header `set-cookie` that takes it away. */
export function clearedSessionCookie(isTls: boolean): string {
  return sessionCookie("", 0, isTls);
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

function assertOwnOrigin({ peer, header }: RequestOrigin): void {
  const origin = header("origin") ?? "";
  if (!isSameOrigin(origin, peer.authority, peer.isTls)) {
    throw notOwn(`the origin ${origin} is not that of this gateway's pages`);
  }
}

function notOwn(why: string): InfraError {
  return new InfraError("ORIGIN_NOT_ALLOWED", `${why}; send the token as the header authorization instead`);
}
