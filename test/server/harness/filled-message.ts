import { create, type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { StructSchema } from "@bufbuild/protobuf/wkt";
import { isSecret as isSecretField } from "../../../server/rpc/call/secret-fields.ts";

/** A message with every field set, and the names of its secrets. */
export interface FilledMessage {
  readonly message: Message;
  /** Full names of the secret fields that are set. */
  readonly secretFields: readonly string[];
}

/**
 * Returns messages of a type that together set every field at every depth. One is enough unless there are alternatives (`oneof`).
 * A field marked as secret in the contract is set to `secret`, or stays unset if that is undefined.
 */
export function filledMessages(type: DescMessage, secret: string | undefined): FilledMessage[] {
  return Array.from({ length: variantsOf(type, new Set()) }, (_, variant) => {
    const secretFields: string[] = [];
    const message = fill(type, variant, secret, secretFields, 0).message;
    return { message, secretFields };
  });
}

/** Deep enough for the contract; only recursive messages are deeper. */
const depthMax = 6;

function variantsOf(type: DescMessage, seen: Set<string>): number {
  if (seen.has(type.typeName)) {
    return 1;
  }
  seen.add(type.typeName);
  const below = type.fields.map(({ message }) => (message === undefined ? 1 : variantsOf(message, seen)));
  return Math.max(1, ...type.oneofs.map(({ fields }) => fields.length), ...below);
}

function fill(
  type: DescMessage,
  variant: number,
  secret: string | undefined,
  secretFields: string[],
  depth: number,
): ReflectMessage {
  const filled = reflect(type, create(type));
  for (const field of type.fields) {
    const isChosen =
      field.oneof === undefined || field.oneof.fields[variant % field.oneof.fields.length] === field;
    const isSecret = isSecretField(field);
    const isOwn = !type.typeName.startsWith("google.protobuf.");
    if (
      !isChosen ||
      !isOwn ||
      (field.fieldKind === "map" && field.mapKind !== "scalar") ||
      depth === depthMax ||
      (isSecret && secret === undefined)
    ) {
      continue;
    }
    const text = isSecret ? secret : undefined;
    if (text !== undefined) {
      secretFields.push(`${type.typeName}.${field.name}`);
    }
    const value = (): unknown =>
      field.message === undefined
        ? scalarOf(field, text ?? "a")
        : text !== undefined && field.message.typeName === StructSchema.typeName
          ? reflect(
              StructSchema,
              create(StructSchema, { fields: { [text]: { kind: { case: "stringValue", value: text } } } }),
            )
          : fill(field.message, variant, secret, secretFields, depth + 1);
    if (field.fieldKind === "map") {
      filled.get(field).set("a", value());
    } else if (field.fieldKind === "list") {
      filled.get(field).add(value());
    } else {
      filled.set(field, value());
    }
  }
  return filled;
}

function scalarOf(field: DescField, text: string): unknown {
  if (field.enum !== undefined) {
    return field.enum.values.at(-1)?.number;
  }
  switch (field.scalar) {
    case ScalarType.STRING:
      return text;
    case ScalarType.BYTES:
      return new Uint8Array(Buffer.from(text));
    case ScalarType.BOOL:
      return true;
    case ScalarType.INT64:
    case ScalarType.UINT64:
    case ScalarType.SINT64:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return 1n;
    default:
      return 1;
  }
}
