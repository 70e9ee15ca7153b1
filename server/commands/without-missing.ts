/**
 * The JSON of an answer without the fields that could not be read: a bare number that is unset would be printed as 0.
 * @param missing as the header `hostplane-missing` has them, e.g. `data.volumes`; of a list the first word names itself. Where
 *   such a field is told of some of a list and not of others, what is told stays
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

/** As protobuf's JSON has it: `pgCount` for `pg_count`. */
function jsonName(field: string): string {
  return field.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
