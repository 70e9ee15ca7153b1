/** Limits the number and length of names in the header. */
const maxNames = 20;
const maxNameLength = 64;

/**
 * Names the JSON fields that a read ignored in the header `hostplane-unknown-fields`, percent-encoded and separated by commas, so
 * that a typo in a `curl` command shows. Without names there is no header.
 */
export function setUnknownFieldsHeader(header: Headers | undefined, names: readonly string[]): void {
  if (names.length > 0) {
    // A lone surrogate cannot be encoded.
    const encoded = names
      .slice(0, maxNames)
      .map((name) => encodeURIComponent(name.slice(0, maxNameLength).toWellFormed()));
    header?.set("hostplane-unknown-fields", encoded.join(", "));
  }
}
