import { create, type DescField, type DescMessage, type JsonValue, toJson } from "@bufbuild/protobuf";
import { messageTooLarge } from "../../errors/message-too-large.ts";

/**
 * Encodes an answer as JSON with the field names of the contract; fields with their default value are left out.
 * @param field returned instead of the whole answer. An empty list or map is returned as such, and an unset message as null
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
  const content = field === undefined ? json : (memberOf(json, field) ?? defaultOf(desc, field));
  const bytes = Buffer.from(JSON.stringify(content));
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
