import { createHash } from "node:crypto";

/**
 * Whether a client that sends this `If-None-Match` has the answer with this tag (RFC 9110, 13.1.2): it lists tags, of which
 * one compares as equal, or is `*`. The comparison is the weak one, as a proxy that compresses makes a tag weak.
 * @param etag quoted, as the answer has it
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
 * The tag of an answer, which is another one for another body.
 * @param kept who has this body for other answers as well, and the tag with them
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
