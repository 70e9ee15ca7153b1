import { type DescMessage, type MessageShape, toJson } from "@bufbuild/protobuf";

/** Converts a message to the contract's JSON, unset fields included. */
export function jsonOfMessage<Schema extends DescMessage>(
  schema: Schema,
  message: MessageShape<Schema>,
): unknown {
  return toJson(schema, message, { alwaysEmitImplicit: true });
}
