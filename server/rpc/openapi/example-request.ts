import type { DescField, DescMessage, DescMethod, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { exampleValues, fromFields } from "./example-values.ts";
import { type Form, nameIn } from "./message-schemas.ts";

/** Returns a request that the sandbox accepts, with the fields that have an example value. */
export function exampleRequest(
  method: DescMethod,
  form: Pick<Form, "names"> = { names: "json" },
): JsonObject {
  return exampleMessage(method.input, form);
}

function exampleMessage(message: DescMessage, form: Pick<Form, "names">): JsonObject {
  const members = message.fields.flatMap((field) => {
    const value = exampleValue(field, form);
    return value === undefined ? [] : [[nameIn(field, form), value] as const];
  });
  return Object.fromEntries(members);
}

function exampleValue(field: DescField, form: Pick<Form, "names">): JsonValue | undefined {
  const value = exampleValues[`${field.parent.typeName}.${field.name}`] ?? exampleValues[field.name];
  if (value !== fromFields) {
    return value;
  }
  const inner = field.message === undefined ? {} : exampleMessage(field.message, form);
  return field.fieldKind === "list" ? [inner] : inner;
}
