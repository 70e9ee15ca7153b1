import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { rpcReasons } from "../../../rpc/reasons.ts";
import { cookiesOf, type RequestOrigin, setCookie } from "../sessions/session-cookie.ts";

/** Browsers accept the cookie of a https page only from this exact host and over TLS, as that of the session. */
function nameFor(publicUrl: string): string {
  return publicUrl.startsWith("https:") ? "__Host-hostplane_login" : "hostplane_login";
}

/** Builds the header `set-cookie` that gives a browser a login that has begun. */
export function loginCookie(sealed: string, maxAgeMs: number, publicUrl: string): string {
  return setCookie(nameFor(publicUrl), sealed, maxAgeMs);
}

/** Builds the header `set-cookie` that removes it. */
export function clearedLoginCookie(publicUrl: string): string {
  return setCookie(nameFor(publicUrl), "", 0);
}

/** Returns the login that the browser has begun. */
export function readLoginCookie(
  request: Pick<RequestOrigin, "header">,
  publicUrl: string,
): string | undefined {
  const name = nameFor(publicUrl);
  return cookiesOf(request, [name]).get(name);
}

/**
 * Refuses a request that no page at the gateway's public URL has sent. Browsers name the page's origin with every POST. A foreign
 * page must not log its visitors in to an account of its own, and the provider returns browsers only to this URL.
 * @throws InfraError ORIGIN_NOT_ALLOWED
 */
export function assertLoginPage(request: Pick<RequestOrigin, "header">, publicUrl: string): void {
  const { origin } = new URL(publicUrl);
  if (request.header("origin") !== origin) {
    throw new InfraError(
      rpcReasons.ORIGIN_NOT_ALLOWED,
      `a login in a browser begins and ends at ${origin} (auth.publicUrl); programs use BeginDeviceLogin`,
    );
  }
}
