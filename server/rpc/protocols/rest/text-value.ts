import { type DescField, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { invalidField } from "../../../../adapters/host/infra-error.ts";

const wholeNumber = /^-?\d+$/;
const number = /^(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|NaN|-?Infinity)$/;
/** Either alphabet. A `+` that was not percent-encoded has become a space, which protobuf-es would ignore. */
const base64 = /^[\w+/-]*={0,2}$/;
/** Stricter than protobuf-es, which accepts anything after the `s`. */
const duration = /^-?\d+(?:\.\d{1,9})?s$/;

/** Messages whose JSON is a string. */
const textMessages: ReadonlySet<string> = new Set([
  "google.protobuf.Timestamp",
  "google.protobuf.Duration",
  "google.protobuf.FieldMask",
]);

/** Reports whether a value of the field (of a list, each entry) can be written as plain text, as in paths and queries. */
export function hasTextForm({ fieldKind, message }: DescField): boolean {
  if (fieldKind === "map") {
    return false;
  }
  return message === undefined || textMessages.has(message.typeName) || isWrapperDesc(message);
}

/**
 * Returns the JSON of a value given as text in a path or a query. A value that JSON writes as a string stays a string, and is
 * checked when the message is built.
 * @param path of the field, for the error
 * @throws InfraError INVALID_FIELD for a value that does not match the field's type
 * @throws TypeError for a field that `hasTextForm` excludes
 */
export function jsonFromText(field: DescField, path: string, text: string): JsonValue {
  if (!hasTextForm(field)) {
    throw new TypeError(`${field} cannot be written as text`);
  }
  if (field.enum !== undefined) {
    return wholeNumber.test(text) ? Number(text) : text;
  }
  if (field.message === undefined) {
    return scalarFromText(field.scalar, path, text);
  }
  if (isWrapperDesc(field.message)) {
    return scalarFromText(field.message.fields[0]?.scalar, path, text);
  }
  if (field.message.typeName === "google.protobuf.Duration" && !duration.test(text)) {
    throw invalidField(path, `must be seconds such as 1.5s, is ${text}`);
  }
  return text;
}

function scalarFromText(scalar: ScalarType | undefined, path: string, text: string): JsonValue {
  switch (scalar) {
    case ScalarType.STRING:
      return text;
    case ScalarType.BOOL:
      if (text !== "true" && text !== "false") {
        throw invalidField(path, `must be true or false, is ${text}`);
      }
      return text === "true";
    case ScalarType.BYTES:
      return assertForm(base64, "base64", path, text);
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return assertForm(number, "a number", path, text);
    default:
      return assertForm(wholeNumber, "a whole number", path, text);
  }
}

function assertForm(form: RegExp, what: string, path: string, text: string): string {
  if (!form.test(text)) {
    throw invalidField(path, `must be ${what}, is ${text === "" ? "empty" : text}`);
  }
  return text;
}
