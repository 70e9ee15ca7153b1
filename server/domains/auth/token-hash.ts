import { hash } from "node:crypto";

/** What every API token begins with, so that it is known for one, also by scanners for leaked secrets. */
export const apiTokenPrefix = "hpt_";

/**
 * By what a token is known without being kept: SHA-256. A token has 256 bits of chance, so that nothing slower is
 * needed against guessing.
 */
export function hashToken(token: string): Buffer {
  return hash("sha256", token, "buffer");
}
