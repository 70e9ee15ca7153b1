import { createHash } from "node:crypto";

/**
 * Reports whether a client that sends this `If-None-Match` already has the answer with this tag (RFC 9110, 13.1.2): it lists an
 * equal tag, or is `*`. The comparison is weak, because a compressing proxy makes tags weak.
 * @param etag quoted, as in the answer
 */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch?.trim() === "*") {
    return true;
  }
  const tags = ifNoneMatch?.match(/(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g) ?? [];
  return tags.some((tag) => withoutWeakness(tag) === withoutWeakness(etag));
}

function withoutWeakness(tag: string): string {
  return tag.replace(/^W\//, "");
}

/** Returns the tag of an answer, which depends only on its body. */
export function etagOf(body: Uint8Array): string {
  return `"${createHash("sha256").update(body).digest("base64url")}"`;
}
