import { createHash } from "node:crypto";
import { invalidField } from "../../../adapters/host/infra-error.ts";

/** A token contains the start of the page and a hash of the filters. */
const seqBytes = 8;
const hashBytes = 12;

/**
 * Returns the token of the page after the row `seq`, which is above 0. Opaque to clients, but not encrypted.
 * @param filters of the listing, their names always in the same order
 */
export function pageTokenFrom(seq: number, filters: object): string {
  const bytes = Buffer.alloc(seqBytes);
  bytes.writeBigUInt64BE(BigInt(seq));
  return Buffer.concat([bytes, hashOf(filters)]).toString("base64url");
}

/**
 * Returns the row after which the page begins; undefined for the first page, which has no token.
 * @throws InfraError INVALID_FIELD for a text that is not a token, and for the token of a listing with other filters
 */
export function seqFromPageToken(token: string, filters: object): number | undefined {
  if (token === "") {
    return undefined;
  }
  const bytes = Buffer.from(token, "base64url");
  const isOurs = bytes.length === seqBytes + hashBytes && bytes.toString("base64url") === token;
  const seq = isOurs ? bytes.readBigUInt64BE() : 0n;
  if (seq === 0n || seq > Number.MAX_SAFE_INTEGER) {
    throw invalidField("page_token", "expected the next_page_token of an earlier answer");
  }
  if (!bytes.subarray(seqBytes).equals(hashOf(filters))) {
    throw invalidField(
      "page_token",
      "it belongs to a listing with other filters; use the filters of the first page",
    );
  }
  return Number(seq);
}

function hashOf(filters: object): Buffer {
  return createHash("sha256").update(JSON.stringify(filters)).digest().subarray(0, hashBytes);
}
