import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import { apiTokenPrefix } from "./token-hash.ts";

const secretBytes = 32;
/** 32 bytes and a CRC-32 of four are 48 characters of base64url, without padding. */
const tokenFormat = new RegExp(`^${apiTokenPrefix}[A-Za-z0-9_-]{48}$`);

/**
 * A new API token: `hpt_`, and in base64url 32 random bytes with their CRC-32, by which a scanner for leaked secrets
 * knows it for one, and a mistyped one is known without asking the store.
 */
export function makeApiToken(): string {
  return apiTokenFromSecret(randomBytes(secretBytes));
}

/** The token with these 32 bytes. */
export function apiTokenFromSecret(secret: Buffer): string {
  return `${apiTokenPrefix}${Buffer.concat([secret, checksumOf(secret)]).toString("base64url")}`;
}

/** Whether the text has the form of a token and the checksum fits. Whether one was ever made the store knows. */
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
