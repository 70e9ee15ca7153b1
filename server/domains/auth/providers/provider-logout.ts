import type { JWTPayload } from "jose";
import { refusedLogin } from "./refused-login.ts";

/** The sessions that a logout token ends. */
export interface ProviderLogout {
  readonly subject: string | undefined;
  readonly sid: string | undefined;
  readonly issuedAtMs: number;
}

/** What `jwtVerify` checks besides issuer, audience and signature. */
export const logoutTokenChecks = { maxTokenAge: 300, requiredClaims: ["jti"] };

const logoutEvent = "http://schemas.openid.net/event/backchannel-logout";

/**
 * Returns the content of a verified logout token (OpenID Connect Back-Channel Logout 1.0, 2.6).
 * @throws InfraError LOGIN_REFUSED when it is a token of another type
 */
export function providerLogoutFrom({ sub, sid, iat = 0, nonce, events }: JWTPayload): ProviderLogout {
  const isLogout = typeof events === "object" && events !== null && logoutEvent in events;
  if (!isLogout || nonce !== undefined) {
    throw refusedLogin("the token is not a logout token");
  }
  // A client that asks for no session gets an empty one.
  const session = typeof sid === "string" && sid !== "" ? sid : undefined;
  if (sub === undefined && session === undefined) {
    throw refusedLogin("the logout token names neither a user nor a session");
  }
  return { subject: sub, sid: session, issuedAtMs: iat * 1000 };
}
