import type { DescField, DescMessage, JsonValue } from "@bufbuild/protobuf";

/**
 * Returns the JSON fields that the message does not have, and enum fields with an unknown value name. Each is given by its path
 * (`dataSource.s3.acessKeyId`; no index for lists), in the order of the body and without duplicates. Messages of google.protobuf
 * are skipped, because they have a special JSON form.
 */
export function unknownFieldsOf(desc: DescMessage, json: JsonValue | undefined): string[] {
  const paths = new Set<string>();
  visit(desc, json, "", paths);
  return [...paths];
}

function visit(desc: DescMessage, json: JsonValue | undefined, prefix: string, paths: Set<string>): void {
  const isMessage = typeof json === "object" && json !== null && !Array.isArray(json);
  if (!isMessage || desc.typeName.startsWith("google.protobuf.")) {
    return;
  }
  for (const [name, value] of Object.entries(json)) {
    const path = `${prefix}${name}`;
    const field = desc.fields.find((one) => one.jsonName === name || one.name === name);
    if (field === undefined || hasUnknownEnumValue(field, value)) {
      paths.add(path);
      continue;
    }
    const message = messageOf(field);
    for (const inner of message === undefined ? [] : valuesOf(field, value)) {
      visit(message as DescMessage, inner, `${path}.`, paths);
    }
  }
}

/** Reports whether a value has an unknown enum value: a reader that ignores unknown fields ignores it, even in a list. */
function hasUnknownEnumValue(field: DescField, value: JsonValue): boolean {
  const { enum: desc } = field;
  return (
    desc !== undefined &&
    valuesOf(field, value).some(
      (one) => typeof one === "string" && desc.values.every(({ name }) => name !== one),
    )
  );
}

/** Returns the message type of a field, or of each entry of a list or map. */
function messageOf(field: DescField): DescMessage | undefined {
  return field.fieldKind === "enum" || field.fieldKind === "scalar" ? undefined : field.message;
}

function valuesOf({ fieldKind }: DescField, value: JsonValue): JsonValue[] {
  const isHeld = typeof value === "object" && value !== null && fieldKind !== "message";
  return isHeld ? Object.values(value) : [value];
}
