import { type DescMessage, isMessage } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { enumText } from "./enum-text.ts";
import { sizeText } from "./size-text.ts";
import { timeText } from "./time-text.ts";

/**
 * Formats a field of a message for a table: times in UTC, names of enum values, sizes with their unit, lists with commas.
 * @param name as in TypeScript: `startedAt`
 */
export function fieldText(schema: DescMessage, message: object, name: string): string {
  const field = schema.field[name];
  if (field === undefined) {
    throw new TypeError(`${schema.typeName} has no field ${name}`);
  }
  const value: unknown = Reflect.get(message, name);
  if (value === undefined) {
    return "";
  }
  if (field.fieldKind === "enum") {
    return enumText(field.enum, value as number);
  }
  if (isMessage(value, TimestampSchema)) {
    return timeText(value);
  }
  if (typeof value === "bigint" && name.endsWith("Bytes")) {
    return sizeText(value);
  }
  if (typeof value === "boolean") {
    return value ? "yes" : "no";
  }
  return Array.isArray(value) ? value.join(", ") : String(value);
}
