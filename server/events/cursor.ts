import { invalidField } from "../../adapters/host/infra-error.ts";

/** A position in the events of a store, after the event with the number. */
export interface Place {
  /** The numbering that the number belongs to. */
  readonly epoch: string;
  /** Number of the event before the position; 0: the start. */
  readonly seq: number;
}

/** A store's epoch is 36 characters long, a number at most 16. */
export const cursorMaxLength = 128;

/** Encodes a position as an opaque cursor for clients. */
export function cursorFrom({ epoch, seq }: Place): string {
  return Buffer.from(`${epoch}.${seq}`).toString("base64url");
}

/**
 * Parses a cursor; does not check its epoch.
 * @throws InfraError INVALID_FIELD unless `cursorFrom` could have returned it
 */
export function parseCursor(cursor: string): Place {
  const text = cursor.length > cursorMaxLength ? "" : Buffer.from(cursor, "base64url").toString();
  const dot = text.lastIndexOf(".");
  const place = { epoch: text.slice(0, Math.max(dot, 0)), seq: Number(text.slice(dot + 1)) };
  if (
    place.epoch === "" ||
    !Number.isSafeInteger(place.seq) ||
    place.seq < 0 ||
    cursorFrom(place) !== cursor
  ) {
    throw invalidField("cursor", "expected a cursor that the gateway returned");
  }
  return place;
}
