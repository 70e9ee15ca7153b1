import { create, type DescMessage, type MessageInitShape, toBinary, toJsonString } from "@bufbuild/protobuf";
import { oncePerObject } from "../../../adapters/host/once-per-object.ts";
import type { Encoders } from "./shared-message.ts";

/**
 * Creates encoders for messages whose only field is a list of messages. Each item is encoded once per codec: the next message in
 * which the same object is listed takes its bytes.
 */
export function createListEncoders<Desc extends DescMessage>(schema: Desc): Encoders<Desc> {
  const [field, ...others] = schema.fields;
  if (field?.fieldKind !== "list" || field.listKind !== "message" || others.length > 0) {
    throw new TypeError(`${schema.typeName} is not a list of messages`);
  }
  const itemsOf = (message: object) => (message as Readonly<Record<string, object[]>>)[field.localName] ?? [];
  // Copied into Node's pool, because an ArrayBuffer for each item costs more than encoding it.
  const binaryOf = oncePerObject((item: object) => {
    const one = { [field.localName]: [item] } as MessageInitShape<Desc>;
    return Buffer.from(toBinary(schema, create(schema, one)));
  });
  const jsonOf = oncePerObject((item: object) => toJsonString(field.message, item as never));
  return {
    // A list on the wire is the concatenation of lists of one item.
    binary: (message) => Buffer.concat(itemsOf(message).map(binaryOf)),
    json(message) {
      const texts = itemsOf(message).map(jsonOf);
      return texts.length === 0 ? "{}" : `{"${field.jsonName}":[${texts.join(",")}]}`;
    },
  };
}
