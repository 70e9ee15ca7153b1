import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromDate } from "@bufbuild/protobuf/wkt";

/**
 * Creates the request of an RPC from values whose keys are its fields; `tag` also fills `tags`, and `size` fills `sizeBytes`. Values that were not
 * given are left out. Dates become timestamps, or
 * whole seconds that include all of the second; milliseconds become durations.
 * @throws TypeError when a value belongs to no field
 */
export function requestFromValues(schema: DescMessage, values: object): object {
  const entries = Object.entries(values).flatMap(([key, value]) => {
    const field = schema.field[key] ?? schema.field[`${key}s`] ?? schema.field[`${key}Bytes`];
    if (field === undefined) {
      throw new TypeError(`${schema.typeName} has no field ${key}`);
    }
    return value === undefined ? [] : [[field.localName, fieldValue(field, value)] as const];
  });
  return Object.fromEntries(entries);
}

function fieldValue({ message, fieldKind }: DescField, value: unknown): unknown {
  if (value instanceof Date) {
    return fieldKind === "message" ? timestampFromDate(value) : BigInt(Math.floor(value.getTime() / 1_000));
  }
  return message?.typeName === "google.protobuf.Duration" ? durationFromMs(Number(value)) : value;
}
