import type { DescField, DescMessage } from "@bufbuild/protobuf";

/** Returns the field of a message by its name in the contract or in JSON. */
export function fieldOf(desc: DescMessage, name: string): DescField | undefined {
  return desc.fields.find((field) => field.name === name || field.jsonName === name);
}

/**
 * Returns the fields along a path such as `book.name`, ending with the named one; undefined if there is no such field. Only
 * messages have fields: lists, maps, and messages of google.protobuf, which have a special JSON form, have none.
 */
export function fieldsOfPath(desc: DescMessage, path: string): readonly DescField[] | undefined {
  const fields: DescField[] = [];
  let message: DescMessage | undefined = desc;
  for (const name of path.split(".")) {
    const field: DescField | undefined = message === undefined ? undefined : fieldOf(message, name);
    if (field === undefined) {
      return undefined;
    }
    fields.push(field);
    const isOpen: boolean =
      field.fieldKind === "message" && !field.message.typeName.startsWith("google.protobuf.");
    message = isOpen ? field.message : undefined;
  }
  return fields;
}

/** Returns the path with the names of the contract, as used in errors. */
export function pathOfFields(fields: readonly DescField[]): string {
  return fields.map(({ name }) => name).join(".");
}
