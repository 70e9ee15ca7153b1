import { hash } from "node:crypto";

/** Prefix of every API token, which makes it recognizable, also to scanners for leaked secrets. */
export const apiTokenPrefix = "hpt_";

/** Hashes a token for lookup with SHA-256. A token has 256 random bits, so a slower hash is not needed against guessing. */
export function hashToken(token: string): Buffer {
  return hash("sha256", token, "buffer");
}
