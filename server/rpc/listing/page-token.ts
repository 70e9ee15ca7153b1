import { positionFromToken, positionTokenFrom } from "./position-token.ts";

/**
 * Returns the token of the page after the row `seq`, which is above 0. Opaque to clients, but not encrypted.
 * @param filters of the listing, their names always in the same order
 */
export function pageTokenFrom(seq: number, filters: object): string {
  return positionTokenFrom([seq], filters);
}

/**
 * Returns the row after which the page begins; undefined for the first page, which has no token.
 * @throws InfraError INVALID_FIELD for a text that is not a token, and for the token of a listing with other filters
 */
export function seqFromPageToken(token: string, filters: object): number | undefined {
  return positionFromToken(token, filters, seqFromPosition);
}

function seqFromPosition(position: unknown): number | undefined {
  if (!Array.isArray(position) || position.length !== 1) {
    return undefined;
  }
  const [seq]: unknown[] = position;
  return typeof seq === "number" && Number.isSafeInteger(seq) && seq > 0 ? seq : undefined;
}
