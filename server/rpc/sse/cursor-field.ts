import { type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { fieldOf } from "../rest/field-path.ts";

/** The field of a message that holds a cursor, by its name; undefined where there is none. */
export function cursorFieldOf(desc: DescMessage): DescField | undefined {
  const field = fieldOf(desc, "cursor");
  return field?.fieldKind === "scalar" && field.scalar === ScalarType.STRING ? field : undefined;
}

/** The cursor of a message of a stream: its own, or that of what its oneof holds. Undefined for none. */
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

/** Has the request go on behind a cursor, whatever else it says of where to begin. */
export function setCursor(desc: DescMessage, message: Message, cursor: string): void {
  const field = cursorFieldOf(desc);
  if (field !== undefined) {
    reflect(desc, message).set(field, cursor);
  }
}
