import type { DescField, DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { invalidField } from "../../../../adapters/host/infra-error.ts";
import { isSecret } from "../../call/secret-fields.ts";
import { fieldsOfPath, pathOfFields } from "./field-path.ts";
import type { RestRoute } from "./routes.ts";
import { hasTextForm, jsonFromText } from "./text-value.ts";

/** Values from the path and the query of a request. */
export interface RequestValues {
  /** As JSON of the request's message. */
  readonly json: JsonObject;
  /** The fields of `json` that come from the path. */
  readonly pathFields: readonly (readonly DescField[])[];
  /** Query parameters that are not a field, or not one that may be there, in order and without duplicates. */
  readonly unknownKeys: readonly string[];
}

/**
 * Reads the fields of a request from its path and its query. The parameter of a list may be repeated.
 * @param variables of the path's template, by field path
 * @throws InfraError INVALID_FIELD for a value that does not match the field's type, a field that is also in the path, in the
 * body or repeated in the query, a field that cannot be written in a query, or a secret
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
      throw invalidField(path, "is in the path and must not be in the query too");
    } else if (fields[0] === body) {
      throw invalidField(path, `belongs to ${fields[0]?.name}, which must be in the body`);
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

/** Groups parameters by field. A field may be named as in the contract or as in JSON; both mean the same. */
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
    throw invalidField(path, "cannot be written in a query; name one of its fields, or use another protocol");
  }
  if (fields.some(isSecret)) {
    // Proxies on the way may log URLs.
    throw invalidField(path, "is a secret and must not be in a URL");
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
