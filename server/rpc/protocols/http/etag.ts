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

const tags = new WeakMap<object, string>();

/**
 * Returns the tag of an answer, which depends only on its body.
 * @param kept an object that this body is shared through; the tag is cached with it
 */
export function etagOf(body: Uint8Array | string, kept: object | undefined): string {
  const known = kept === undefined ? undefined : tags.get(kept);
  if (known !== undefined) {
    return known;
  }
  const tag = `"${createHash("sha256").update(body).digest("base64url")}"`;
  if (kept !== undefined) {
    tags.set(kept, tag);
  }
  return tag;
}
