import type { DescField, DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { invalidField } from "../../../adapters/host/infra-error.ts";
import { isSecret } from "../secret-fields.ts";
import { fieldsOfPath, pathOfFields } from "./field-path.ts";
import type { RestRoute } from "./rest-routes.ts";
import { hasTextForm, jsonFromText } from "./text-value.ts";

/** What the path and the query of a request say. */
export interface RequestValues {
  /** As JSON of the request's message. */
  readonly json: JsonObject;
  /** Of `json`, the fields that the path has. */
  readonly pathFields: readonly (readonly DescField[])[];
  /** Parameters of the query that are no field, or none that belongs there, in their order and without repetition. */
  readonly unknownKeys: readonly string[];
}

/**
 * Reads the fields of a request that its path and its query hold. A list takes its parameter as often as it comes.
 * @param variables of the path's template, by their field paths
 * @throws InfraError INVALID_FIELD for a value that is not of its field's type, a field that the path, the body or the query
 *   has as well, one that cannot be written in a query, or a secret
 */
export function requestValuesFrom(
  { method, body, template }: Pick<RestRoute, "method" | "body" | "template">,
  variables: ReadonlyMap<string, string>,
  query: readonly (readonly [key: string, value: string])[],
): RequestValues {
  const desc = method.input;
  const json: JsonObject = {};
  const unknownKeys = new Set<string>();
  const pathFields = template.variables.map(({ fieldPath }) => {
    const fields = existingFields(desc, fieldPath);
    setText(json, fields, [variables.get(fieldPath) ?? ""]);
    return fields;
  });
  const inPath = new Set(pathFields.map(pathOfFields));

  for (const [path, { fields, texts, keys }] of groupByField(desc, query)) {
    if (fields === undefined || body === "*") {
      addAll(unknownKeys, keys);
    } else if (inPath.has(path)) {
      throw invalidField(path, "is a part of the path, and cannot be in the query as well");
    } else if (fields[0] === body) {
      throw invalidField(path, `belongs to ${fields[0]?.name}, which is the body`);
    } else {
      setText(json, fields, texts);
    }
  }
  return { json, pathFields, unknownKeys: [...unknownKeys] };
}

interface QueryField {
  readonly fields: readonly DescField[] | undefined;
  readonly texts: string[];
  readonly keys: string[];
}

/** A field may be called by its name in the contract or in JSON; both are the same. */
function groupByField(
  desc: DescMessage,
  query: readonly (readonly [key: string, value: string])[],
): ReadonlyMap<string, QueryField> {
  const groups = new Map<string, QueryField>();
  for (const [key, text] of query) {
    const fields = fieldsOfPath(desc, key);
    const path = fields === undefined ? `unknown ${key}` : pathOfFields(fields);
    const group = groups.get(path) ?? { fields, texts: [], keys: [] };
    group.texts.push(text);
    group.keys.push(key);
    groups.set(path, group);
  }
  return groups;
}

function setText(json: JsonObject, fields: readonly DescField[], texts: readonly string[]): void {
  const path = pathOfFields(fields);
  const field = fields.at(-1);
  if (field === undefined || !hasTextForm(field)) {
    throw invalidField(
      path,
      "has no form in a query; name one of its fields, or call the RPC by another protocol",
    );
  }
  if (fields.some(isSecret)) {
    // Who carries a request on its way keeps URLs in logs.
    throw invalidField(path, "is a secret, which belongs in no URL");
  }
  if (field.fieldKind !== "list" && texts.length > 1) {
    throw invalidField(path, `is given ${texts.length} times`);
  }
  const [first, ...others] = texts.map((text) => jsonFromText(field, path, text));
  let at = json;
  for (const { name } of fields.slice(0, -1)) {
    at[name] ??= {};
    at = at[name] as JsonObject;
  }
  at[field.name] = field.fieldKind === "list" ? [first as JsonValue, ...others] : (first as JsonValue);
}

function existingFields(desc: DescMessage, path: string): readonly DescField[] {
  const fields = fieldsOfPath(desc, path);
  if (fields === undefined) {
    throw new TypeError(`${desc.typeName} has no ${path}`);
  }
  return fields;
}

function addAll(set: Set<string>, values: readonly string[]): void {
  for (const value of values) {
    set.add(value);
  }
}
