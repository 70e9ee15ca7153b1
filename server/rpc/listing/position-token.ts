import { createHash } from "node:crypto";
import { invalidField } from "../../../adapters/host/infra-error.ts";

const hashBytes = 12;
const tokenMaxLength = 4096;

/**
 * Returns the token of the page after a position. Opaque to clients, but not encrypted.
 * @param position values that JSON can hold
 * @param filters of the listing, their names always in the same order
 */
export function positionTokenFrom(position: readonly unknown[], filters: object): string {
  return Buffer.concat([hashOf(filters), Buffer.from(JSON.stringify(position))]).toString("base64url");
}

/**
 * Returns the position after which the page begins; undefined for the first page, which has no token.
 * @param parse returns undefined for a value that is not a position
 * @throws InfraError INVALID_FIELD for a text that is not a token, and for the token of a listing with other filters
 */
export function positionFromToken<Position>(
  token: string,
  filters: object,
  parse: (position: unknown) => Position | undefined,
): Position | undefined {
  if (token === "") {
    return undefined;
  }
  const bytes = Buffer.from(token.slice(0, tokenMaxLength), "base64url");
  const isOurs = bytes.toString("base64url") === token;
  const position = isOurs ? parse(jsonFrom(bytes.subarray(hashBytes))) : undefined;
  if (position === undefined) {
    throw invalidField("page_token", "expected the next_page_token of an earlier answer");
  }
  if (!bytes.subarray(0, hashBytes).equals(hashOf(filters))) {
    throw invalidField(
      "page_token",
      "it belongs to a listing with other filters; use the filters of the first page",
    );
  }
  return position;
}

function jsonFrom(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

function hashOf(filters: object): Buffer {
  return createHash("sha256").update(JSON.stringify(filters)).digest().subarray(0, hashBytes);
}
