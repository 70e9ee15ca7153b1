import { errors, jwtVerify, SignJWT } from "jose";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { authReasons } from "../reasons.ts";

/** Content of a session token. */
export interface SessionClaims {
  readonly sessionId: string;
  readonly accountId: string;
  readonly issuedAtMs: number;
  /** In whole seconds. */
  readonly expiresAtMs: number;
  /** ID of the key that signed it. */
  readonly keyId: string;
  /** Name of the identity provider that confirmed the login; undefined for a login with a password. */
  readonly provider?: string | undefined;
}

export interface SessionTokensOptions {
  readonly audience: string;
  /** Returns the secret of a key that currently verifies. */
  readonly secretOf: (keyId: string) => Uint8Array | undefined;
}

/** Signs and verifies session tokens: JWT (RFC 7519) with HS256. Does not check revocations. */
export interface SessionTokens {
  /** @throws InfraError TOKEN_INVALID when there is no such key */
  sign(claims: SessionClaims): Promise<string>;
  /**
   * Returns the content of a token, synchronously if the token was verified before. For any text, it only rejects with an
   * InfraError TOKEN_INVALID or TOKEN_EXPIRED.
   */
  verify(token: string): SessionClaims | Promise<SessionClaims>;
}

const issuer = "hostplane";
const algorithm = "HS256";
/** Our tokens have about 300 characters. */
const maxLength = 2048;
const maxCached = 10_000;
/** Characters of the signature's end, 96 bits, that identify a verified token in the cache. */
const tailLength = 16;

/** @param options `audience`: tokens for another one are invalid */
export function createSessionTokens({ audience, secretOf }: SessionTokensOptions): SessionTokens {
  /**
   * Cache of verified tokens by their tails, oldest first. Keeping tokens in memory adds no risk, because the signing keys are in
   * the same memory. Lookups leak nothing by timing: the map's hash is seeded per process, and a token is only compared with one
   * that has the same tail.
   */
  const verified = new Map<string, { readonly token: string; readonly claims: SessionClaims }>();

  function keyOf(keyId: unknown): Uint8Array {
    const secret = typeof keyId === "string" ? secretOf(keyId) : undefined;
    if (secret === undefined) {
      throw invalid("it was signed with a key that this gateway does not have");
    }
    return secret;
  }

  async function read(token: string): Promise<SessionClaims> {
    if (token.length > maxLength) {
      throw invalid("it is too long");
    }
    // The last character has bits that mean nothing: without this check, several texts would be the same token.
    const signature = token.slice(token.lastIndexOf(".") + 1);
    if (Buffer.from(signature, "base64url").toString("base64url") !== signature) {
      throw invalid("its signature is not base64url");
    }
    try {
      const { payload, protectedHeader } = await jwtVerify(token, ({ kid }) => keyOf(kid), {
        // Only this one, because a token must not choose how it is verified.
        algorithms: [algorithm],
        issuer,
        audience,
        requiredClaims: ["jti", "sub", "iat", "exp"],
        // The reported expiry is exact. Differing clocks of replicas cannot reject a fresh token, because there is no
        // `nbf`, and `iat` is only compared with times of the store.
        clockTolerance: 0,
      });
      const { jti, sub, iat = 0, exp = 0 } = payload;
      if (typeof jti !== "string" || typeof sub !== "string") {
        throw invalid("it lacks the claims of a session");
      }
      return {
        sessionId: jti,
        accountId: sub,
        issuedAtMs: Math.round(iat * 1000),
        expiresAtMs: exp * 1000,
        keyId: protectedHeader.kid ?? "",
        provider: typeof payload.idp === "string" ? payload.idp : undefined,
      };
    } catch (error) {
      if (error instanceof InfraError) {
        throw error;
      }
      throw error instanceof errors.JWTExpired
        ? expired()
        : invalid("it was not issued by this gateway", error);
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
      new SignJWT(claims.provider === undefined ? {} : { idp: claims.provider })
        .setProtectedHeader({ alg: algorithm, typ: "JWT", kid: claims.keyId })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(claims.accountId)
        .setJti(claims.sessionId)
        // With milliseconds, to distinguish a login from a password change in the same second.
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
  return new InfraError(authReasons.TOKEN_EXPIRED, "the login has expired");
}

function invalid(why: string, cause?: unknown): InfraError {
  return new InfraError(authReasons.TOKEN_INVALID, `the token was rejected: ${why}`, { cause });
}
