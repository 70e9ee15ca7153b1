import type { DescField, JsonObject } from "@bufbuild/protobuf";
import type { CommentOf } from "./contract-comments.ts";
import { described, refToSchema } from "./message-schemas.ts";
import { scalarSchema } from "./scalar-schema.ts";
import { wellKnownSchema } from "./well-known-schema.ts";

/**
 * Returns a request field as a query parameter, with its name in the contract. The parameter of a list may be repeated.
 * @throws TypeError for a field that has no text form
 */
export function queryParameter(field: DescField, commentOf: CommentOf): JsonObject {
  const value = textSchema(field);
  return {
    name: field.name,
    in: "query",
    ...described(commentOf(field)),
    schema: field.fieldKind === "list" ? { type: "array", items: value } : value,
  };
}

function textSchema(field: DescField): JsonObject {
  const { message, enum: values, scalar } = field;
  if (values !== undefined) {
    return refToSchema(values.typeName);
  }
  const schema = message === undefined ? scalar && scalarSchema(scalar, true) : wellKnownSchema(message);
  if (schema === undefined) {
    throw new TypeError(`${field} cannot be written as a parameter`);
  }
  return schema;
}
