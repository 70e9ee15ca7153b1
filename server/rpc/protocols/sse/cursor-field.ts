import { type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { fieldOf } from "../rest/field-path.ts";

/** Returns the field named `cursor` of a message; undefined if there is none. */
export function cursorFieldOf(desc: DescMessage): DescField | undefined {
  const field = fieldOf(desc, "cursor");
  return field?.fieldKind === "scalar" && field.scalar === ScalarType.STRING ? field : undefined;
}

/** Returns the cursor of a stream's message: its own, or that of the message in its oneof. Undefined if there is none. */
export function cursorOf(desc: DescMessage, message: Message): string | undefined {
  const own = cursorFieldOf(desc);
  const reflected = reflect(desc, message);
  if (own !== undefined) {
    return (reflected.get(own) as string) || undefined;
  }
  for (const field of desc.oneofs.flatMap(({ fields }) => fields)) {
    const inner = field.fieldKind === "message" ? cursorFieldOf(field.message) : undefined;
    if (field.fieldKind === "message" && inner !== undefined && reflected.isSet(field)) {
      return (reflected.get(field).get(inner) as string) || undefined;
    }
  }
  return undefined;
}

/** Makes the request continue after a cursor, overriding its other start position. */
export function setCursor(desc: DescMessage, message: Message, cursor: string): void {
  const field = cursorFieldOf(desc);
  if (field !== undefined) {
    reflect(desc, message).set(field, cursor);
  }
}
