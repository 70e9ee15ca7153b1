/**
 * Response header with the JSON fields that a read ignored, so that a typo in a `curl` command shows. Absent if there are none.
 */
export const unknownFieldsHeader = "hostplane-unknown-fields";

/** Limits the number and length of names in the header. */
const maxNames = 20;
const maxNameLength = 64;

/** Encodes the names for the header: percent-encoded and separated by commas. */
export function encodeUnknownFields(names: readonly string[]): string {
  return (
    names
      .slice(0, maxNames)
      // A lone surrogate cannot be encoded.
      .map((name) => encodeURIComponent(name.slice(0, maxNameLength).toWellFormed()))
      .join(", ")
  );
}
