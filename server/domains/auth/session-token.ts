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
  /**
   * What a token says, at once when it was found good before. Whatever the text is, it rejects with an InfraError alone,
   * TOKEN_INVALID or TOKEN_EXPIRED.
   */
  verify(token: string): SessionClaims | Promise<SessionClaims>;
}

const issuer = "hostplane";
const algorithm = "HS256";
/** Ours have some 300; nothing longer is worth a look. */
const maxLength = 2048;
const maxCached = 10_000;
/** By so much of the end of its signature, 96 bits, a token is found that was verified before. */
const tailLength = 16;

export function createSessionTokens({ audience, secretOf }: SessionTokensOptions): SessionTokens {
  /**
   * Tokens whose signature was found good, by their tails, the oldest first. They are no better kept than here: the keys
   * that sign them are in the same memory. Time tells nothing of them: the map's hash is by a seed of the process, and a
   * token is compared with another only by who knows its tail.
   */
  const verified = new Map<string, { readonly token: string; readonly claims: SessionClaims }>();

  function keyOf(keyId: unknown): Uint8Array {
    const secret = typeof keyId === "string" ? secretOf(keyId) : undefined;
    if (secret === undefined) {
      throw invalid("it was signed by a key that this gateway does not have");
    }
    return secret;
  }

  async function read(token: string): Promise<SessionClaims> {
    if (token.length > maxLength) {
      throw invalid("it is too long");
    }
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

  async function readAndKeep(token: string): Promise<SessionClaims> {
    const claims = await read(token);
    const [oldest] = verified.keys();
    if (oldest !== undefined && verified.size >= maxCached) {
      verified.delete(oldest);
    }
    verified.set(token.slice(-tailLength), { token, claims });
    return claims;
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

    verify(token) {
      const known = verified.get(token.slice(-tailLength));
      const isGood =
        known?.token === token && secretOf(known.claims.keyId) !== undefined && !isOver(known.claims);
      return isGood ? known.claims : readAndKeep(token);
    },
  };
}

/** @throws InfraError TOKEN_EXPIRED */
export function assertNotExpired({ expiresAtMs }: { readonly expiresAtMs: number | undefined }): void {
  if (isOver({ expiresAtMs })) {
    throw expired();
  }
}

function isOver({ expiresAtMs }: { readonly expiresAtMs: number | undefined }): boolean {
  return expiresAtMs !== undefined && Date.now() >= expiresAtMs;
}

function expired(): InfraError {
  return new InfraError("TOKEN_EXPIRED", "the login has expired");
}

function invalid(why: string, cause?: unknown): InfraError {
  return new InfraError("TOKEN_INVALID", `the token is not accepted: ${why}`, { cause });
}
