import { hash } from "node:crypto";
import { errors, jwtVerify, SignJWT } from "jose";
import { InfraError } from "../../../adapters/host/infra-error.ts";

/** What a session's token says. */
export interface SessionClaims {
  readonly sessionId: string;
  readonly accountId: string;
  readonly issuedAtMs: number;
  /** In whole seconds. */
  readonly expiresAtMs: number;
  /** The key that has signed it. */
  readonly keyId: string;
}

export interface SessionTokensOptions {
  readonly audience: string;
  /** The secret of a key that verifies now. */
  readonly secretOf: (keyId: string) => Uint8Array | undefined;
}

/** Signs and verifies tokens: JWT (RFC 7519) by HS256. Whether a session was revoked it does not know. */
export interface SessionTokens {
  /** @throws InfraError TOKEN_INVALID when there is no such key */
  sign(claims: SessionClaims): Promise<string>;
  /** @throws InfraError TOKEN_INVALID, TOKEN_EXPIRED, whatever the text is */
  verify(token: string): Promise<SessionClaims>;
}

const issuer = "hostplane";
const algorithm = "HS256";
/** Ours have some 300; nothing longer is worth a look. */
const maxLength = 2048;
const maxCached = 10_000;

export function createSessionTokens({ audience, secretOf }: SessionTokensOptions): SessionTokens {
  /** Claims of tokens whose signature was found good, by hash, the least recently used first. */
  const verified = new Map<string, SessionClaims>();

  function keyOf(keyId: unknown): Uint8Array {
    const secret = typeof keyId === "string" ? secretOf(keyId) : undefined;
    if (secret === undefined) {
      throw invalid("it was signed by a key that this gateway does not have");
    }
    return secret;
  }

  async function read(token: string): Promise<SessionClaims> {
    try {
      const { payload, protectedHeader } = await jwtVerify(token, ({ kid }) => keyOf(kid), {
        // No other: a token must not choose how it is verified.
        algorithms: [algorithm],
        issuer,
        audience,
        requiredClaims: ["jti", "sub", "iat", "exp"],
        // What clients are told as the end is the end. Clocks of replicas that differ refuse no fresh token, as
        // there is no `nbf`, and `iat` is held against times of the store alone.
        clockTolerance: 0,
      });
      const { jti, sub, iat = 0, exp = 0 } = payload;
      if (typeof jti !== "string" || typeof sub !== "string") {
        throw invalid("its claims are not those of a session");
      }
      return {
        sessionId: jti,
        accountId: sub,
        issuedAtMs: Math.round(iat * 1000),
        expiresAtMs: exp * 1000,
        keyId: protectedHeader.kid ?? "",
      };
    } catch (error) {
      if (error instanceof InfraError) {
        throw error;
      }
      throw error instanceof errors.JWTExpired
        ? expired()
        : invalid("it is not one of this gateway's", error);
    }
  }

  return {
    sign: (claims) =>
      new SignJWT()
        .setProtectedHeader({ alg: algorithm, typ: "JWT", kid: claims.keyId })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(claims.accountId)
        .setJti(claims.sessionId)
        // With milliseconds, by which a login is known from a change of the password in the same second.
        .setIssuedAt(claims.issuedAtMs / 1000)
        .setExpirationTime(claims.expiresAtMs / 1000)
        .sign(keyOf(claims.keyId)),

    async verify(token) {
      if (token.length > maxLength) {
        throw invalid("it is too long");
      }
      const key = hash("sha256", token, "base64");
      let claims = verified.get(key);
      if (claims === undefined) {
        claims = await read(token);
        if (verified.size >= maxCached) {
          const [oldest = ""] = verified.keys();
          verified.delete(oldest);
        }
      } else {
        verified.delete(key);
        keyOf(claims.keyId);
        assertNotExpired(claims);
      }
      verified.set(key, claims);
      return claims;
    },
  };
}

/** @throws InfraError TOKEN_EXPIRED */
export function assertNotExpired({ expiresAtMs }: { readonly expiresAtMs: number | undefined }): void {
  if (expiresAtMs !== undefined && Date.now() >= expiresAtMs) {
    throw expired();
  }
}

function expired(): InfraError {
  return new InfraError("TOKEN_EXPIRED", "the login has expired");
}

function invalid(why: string, cause?: unknown): InfraError {
  return new InfraError("TOKEN_INVALID", `the token is not accepted: ${why}`, { cause });
}
