import { invalidField } from "../../adapters/host/infra-error.ts";

/** A place in the events of a store: behind the event with the number. */
export interface Place {
  /** Which counting of events the number belongs to. */
  readonly epoch: string;
  /** Behind which event; 0: before all. */
  readonly seq: number;
}

/** A store's epoch is 36 characters long, a number at most 16. */
const cursorMaxLength = 128;

/** The place as clients keep it, who do not look into it. */
export function cursorFrom({ epoch, seq }: Place): string {
  return Buffer.from(`${epoch}.${seq}`).toString("base64url");
}

/**
 * Reads a cursor, of whatever epoch.
 * @throws InfraError INVALID_FIELD for what `cursorFrom` has not made
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
    throw invalidField("cursor", "expected a cursor that the gateway has given");
  }
  return place;
}
