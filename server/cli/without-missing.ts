/**
 * Removes the fields that could not be read from a response's JSON, since an unset number would be printed as 0.
 * @param missing fields from the header `hostplane-missing`, e.g. `data.volumes`; for a list, the first word names the list
 *   itself. If only some entries of a list lack the field, the values of the others stay
 */
export function withoutMissing(json: unknown, missing: readonly string[]): unknown {
  return missing.reduce((rest, field) => {
    const path = field.split(".").map(jsonName);
    return without(rest, Array.isArray(rest) ? path.slice(1) : path);
  }, json);
}

function without(json: unknown, [name, ...below]: readonly string[]): unknown {
  if (Array.isArray(json)) {
    return json.map((each) => without(each, name === undefined ? [] : [name, ...below]));
  }
  if (typeof json !== "object" || json === null || name === undefined || !Object.hasOwn(json, name)) {
    return json;
  }
  const { [name]: value, ...others } = json as Readonly<Record<string, unknown>>;
  if (below.length > 0) {
    return { ...json, [name]: without(value, below) };
  }
  return isUnset(value) ? others : json;
}

function isUnset(value: unknown): boolean {
  return value === 0 || value === "0" || value === "" || (Array.isArray(value) && value.length === 0);
}

/** Converts a field name to protobuf's JSON form: `pgCount` for `pg_count`. */
function jsonName(field: string): string {
  return field.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
