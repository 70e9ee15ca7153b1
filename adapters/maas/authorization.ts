import type { MaasApiKey } from "./names.ts";

/**
 * Returns the `Authorization` header of OAuth 1.0 without a three-party flow, signed with PLAINTEXT, with an empty
 * consumer secret. MAAS accepts a nonce once, and a time that is at most 300 s behind its own.
 */
export function authorizationHeader(
  { consumer, token, secret }: MaasApiKey,
  { nonce, timestampSeconds }: { readonly nonce: string; readonly timestampSeconds: number },
): string {
  const parameters = {
    oauth_version: "1.0",
    oauth_signature_method: "PLAINTEXT",
    oauth_consumer_key: consumer,
    oauth_token: token,
    oauth_signature: `&${secret}`,
    oauth_nonce: nonce,
    oauth_timestamp: String(timestampSeconds),
  };
  const pairs = Object.entries(parameters).map(([key, value]) => `${key}="${encoded(value)}"`);
  return `OAuth ${pairs.join(", ")}`;
}

// RFC 5849 leaves fewer characters unescaped than encodeURIComponent does.
function encoded(value: string): string {
  return encodeURIComponent(value).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
