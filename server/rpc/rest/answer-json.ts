import { create, type DescField, type DescMessage, type JsonValue, toJson } from "@bufbuild/protobuf";
import { messageTooLarge } from "../message-too-large.ts";

/**
 * An answer as JSON text, by the names of the contract; fields that have their default are left out.
 * @param field of the answer that is told instead of the whole; a list or a map that is empty is told as such, and a message
 *   that is not set as null
 * @throws InfraError MESSAGE_TOO_LARGE
 */
export function answerJson(
  desc: DescMessage,
  output: object,
  field: DescField | undefined,
  maxBytes: number,
): Buffer {
  const message = create(desc, output as Record<string, unknown>);
  const json = toJson(desc, message, { useProtoFieldName: true });
  const told = field === undefined ? json : (memberOf(json, field) ?? defaultOf(desc, field));
  const bytes = Buffer.from(JSON.stringify(told));
  if (bytes.byteLength > maxBytes) {
    throw messageTooLarge(bytes.byteLength, maxBytes);
  }
  return bytes;
}

function memberOf(json: JsonValue, { name }: DescField): JsonValue | undefined {
  return typeof json === "object" && json !== null && !Array.isArray(json) ? json[name] : undefined;
}

function defaultOf(desc: DescMessage, field: DescField): JsonValue {
  const empty = toJson(desc, create(desc), { useProtoFieldName: true, alwaysEmitImplicit: true });
  return memberOf(empty, field) ?? null;
}
