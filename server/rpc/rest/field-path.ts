import type { DescField, DescMessage } from "@bufbuild/protobuf";

/** The field of a message by its name in the contract or in JSON. */
export function fieldOf(desc: DescMessage, name: string): DescField | undefined {
  return desc.fields.find((field) => field.name === name || field.jsonName === name);
}

/**
 * The fields that a path such as `book.name` goes through, the last one being what it names; undefined when there is no
 * such field. Only messages have fields: lists, maps, and messages of google.protobuf, whose JSON is a form of its own, have
 * none.
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

/** The path by the names of the contract, as errors tell it. */
export function pathOfFields(fields: readonly DescField[]): string {
  return fields.map(({ name }) => name).join(".");
}
