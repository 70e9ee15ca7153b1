import type { Message } from "@bufbuild/protobuf";

/**
 * Encodes a message so that equal messages have equal bytes, which the encoding of protobuf does not promise: the entries of a map,
 * and of a `google.protobuf.Struct`, have no order. Not for decoding.
 */
export function canonicalBytes(message: Message): Uint8Array {
  return Buffer.from(JSON.stringify(message, canonicalValue));
}

function canonicalValue(_key: string, value: unknown): unknown {
  if (typeof value === "bigint" || (typeof value === "number" && !Number.isFinite(value))) {
    return { [typeof value]: String(value) };
  }
  if (value instanceof Uint8Array) {
    return { bytes: Buffer.from(value).toString("base64") };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return value;
  }
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
