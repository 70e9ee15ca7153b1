import type { MaasApiKey } from "./names.ts";

/**
 * The header `Authorization` of OAuth 1.0 without a three-party flow, signed with PLAINTEXT, in which the consumer has no
 * secret. MAAS takes a nonce once and a time that is no more than 300 s behind its own.
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

// RFC 5849 leaves fewer characters as they are than encodeURIComponent does.
function encoded(value: string): string {
  return encodeURIComponent(value).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
