import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import { apiTokenPrefix } from "./token-hash.ts";

const secretBytes = 32;
/** 32 bytes and a CRC-32 of four bytes are 48 characters of base64url, without padding. */
const tokenFormat = new RegExp(`^${apiTokenPrefix}[A-Za-z0-9_-]{48}$`);

/**
 * Generates an API token: `hpt_`, then 32 random bytes and their CRC-32 in base64url. The prefix and checksum let scanners for
 * leaked secrets recognize it, and let the gateway reject mistyped tokens without a lookup.
 */
export function makeApiToken(): string {
  return apiTokenFromSecret(randomBytes(secretBytes));
}

/** Returns the token with these 32 bytes. */
export function apiTokenFromSecret(secret: Buffer): string {
  return `${apiTokenPrefix}${Buffer.concat([secret, checksumOf(secret)]).toString("base64url")}`;
}

/** Reports whether a text has the form of a token and a valid checksum; only the store knows whether the token exists. */
export function isApiToken(text: string): boolean {
  if (!tokenFormat.test(text)) {
    return false;
  }
  const bytes = Buffer.from(text.slice(apiTokenPrefix.length), "base64url");
  return checksumOf(bytes.subarray(0, secretBytes)).equals(bytes.subarray(secretBytes));
}

function checksumOf(secret: Buffer): Buffer {
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(secret));
  return checksum;
}
