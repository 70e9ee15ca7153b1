import type { Seal } from "../../../crypto/seal.ts";

/** What is kept of a login at a provider, for as long as its session lasts. */
export interface KeptLogin {
  readonly refreshToken: string;
  /** By which the provider recognizes its session when it is to end; undefined if there is none of a usual size. */
  readonly idToken?: string | undefined;
}

/** It becomes part of a URL in a header; proxies often allow 4 KiB for all headers. */
const idTokenMaxLength = 3072;

/** Encrypts a login. @param sessionId the session, which it is bound to */
export function sealLogin(seal: Seal, { refreshToken, idToken }: KeptLogin, sessionId: string): Uint8Array {
  const kept: KeptLogin = {
    refreshToken,
    ...(idToken === undefined || idToken.length > idTokenMaxLength ? {} : { idToken }),
  };
  return seal.seal(Buffer.from(JSON.stringify(kept)), sessionId);
}

/** Decrypts a login. @throws Error when it was sealed with another key, or for another session */
export function openLogin(seal: Seal, sealed: Uint8Array, sessionId: string): KeptLogin {
  return JSON.parse(Buffer.from(seal.open(sealed, sessionId)).toString()) as KeptLogin;
}
