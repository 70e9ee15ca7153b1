import {
  type DescMethod,
  fromJson,
  type JsonReadOptions,
  type JsonValue,
  type Message,
} from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import {
  createAsyncIterable,
  pipe,
  type Serialization,
  transformDecompressEnvelope,
  transformParseEnvelope,
  transformSplitEnvelope,
} from "@connectrpc/connect/protocol";
import { endStreamFlag } from "@connectrpc/connect/protocol-connect";
import { trailerFlag } from "@connectrpc/connect/protocol-grpc-web";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { messageTooLarge } from "../../errors/message-too-large.ts";
import { envelopeHeadBytes } from "../wire/envelope.ts";
import { jsonTextOf } from "../wire/json-text.ts";
import { assertOneEnvelope } from "../wire/one-envelope.ts";
import { singleOf } from "../wire/single-of.ts";
import { unknownFieldsOf } from "../wire/unknown-fields.ts";
import type { RequestHead } from "./request-head.ts";
import type { WireForm } from "./wire-form.ts";

/** How the messages of a method are read. */
export interface MessageReading {
  readonly method: DescMethod;
  readonly readMaxBytes: number;
  /** Serialization of its requests. */
  readonly serialization: Serialization<Message>;
  readonly jsonOptions: Partial<JsonReadOptions>;
}

/** Receives the names of ignored fields that the message does not have. */
type NoteUnknownFields = (names: readonly string[]) => void;

/**
 * Reads the one message of an enveloped request. A single whole message, which nearly every request has, is read here. Anything
 * else is read by connect-es, so that it gets the errors of connect-es.
 * @throws InfraError REQUEST_CARDINALITY, ConnectError
 */
export function readEnvelopedMessage(
  body: Buffer,
  { form, requestCompression }: RequestHead,
  reading: MessageReading,
  noteUnknownFields: NoteUnknownFields,
): Message | Promise<Message> {
  const { readMaxBytes } = reading;
  const serialization = serializationOf(form, reading, noteUnknownFields);
  assertOneEnvelope(body);
  const isWhole =
    body.byteLength >= envelopeHeadBytes && body.byteLength === envelopeHeadBytes + body.readUInt32BE(1);
  if (isWhole && body[0] === 0 && body.byteLength <= envelopeHeadBytes + readMaxBytes) {
    return serialization.parse(bytesOf(body.subarray(envelopeHeadBytes)));
  }
  const messages = pipe(
    createAsyncIterable([bytesOf(body)].filter(({ byteLength }) => byteLength > 0)),
    transformSplitEnvelope(readMaxBytes),
    transformDecompressEnvelope(requestCompression, readMaxBytes),
    parsing(form, serialization),
  );
  return singleOf(messages) as Promise<Message>;
}

/** Parses messages. The final envelope of a Connect or gRPC-Web request stream is not one. */
function parsing({ protocol }: WireForm, serialization: Serialization<Message>) {
  switch (protocol) {
    case "connect":
      return transformParseEnvelope(serialization, endStreamFlag);
    case "grpc-web":
      return transformParseEnvelope(serialization, trailerFlag);
    case "grpc":
      return transformParseEnvelope(serialization);
  }
}

/**
 * Reads the message of a unary Connect request.
 * @throws InfraError MESSAGE_TOO_LARGE, ConnectError
 */
export async function readPlainMessage(
  body: Uint8Array,
  { form, requestCompression }: RequestHead,
  reading: MessageReading,
  noteUnknownFields: NoteUnknownFields,
): Promise<Message> {
  const { readMaxBytes } = reading;
  const serialization = serializationOf(form, reading, noteUnknownFields);
  if (body.byteLength > readMaxBytes) {
    throw messageTooLarge(body.byteLength, readMaxBytes);
  }
  const isCompressed = requestCompression !== null;
  return serialization.parse(
    isCompressed ? await requestCompression.decompress(bytesOf(body), readMaxBytes) : bytesOf(body),
  );
}

/** Returns the serialization of connect-es, with additional checks for JSON. */
function serializationOf(
  { isBinary }: WireForm,
  reading: MessageReading,
  noteUnknownFields: NoteUnknownFields,
): Serialization<Message> {
  const { serialization } = reading;
  return isBinary
    ? serialization
    : {
        serialize: serialization.serialize,
        parse: (bytes) => readJson(bytesOf(bytes), reading, noteUnknownFields),
      };
}

function readJson(
  body: Uint8Array<ArrayBuffer>,
  { method, serialization, jsonOptions }: MessageReading,
  noteUnknownFields: NoteUnknownFields,
): Message {
  const text = jsonTextOf(body);
  let json: JsonValue;
  let message: Message;
  try {
    json = JSON.parse(text);
    message = fromJson(method.input, json, jsonOptions);
  } catch {
    // Parses again with connect-es, which fails with its own message.
    return serialization.parse(body);
  }
  if (jsonOptions.ignoreUnknownFields === true) {
    noteUnknownFields(unknownFieldsOf(method.input, json));
  }
  return message;
}

/**
 * Returns the message of Connect's GET.
 * @throws InfraError MALFORMED_REQUEST
 */
export function bytesOfQuery(query: URLSearchParams): Uint8Array {
  const message = query.get("message") ?? "";
  if (query.get("base64") !== "1") {
    return Buffer.from(message);
  }
  try {
    return base64Decode(message);
  } catch (cause) {
    throw new InfraError("MALFORMED_REQUEST", "the query parameter message is not base64", { cause });
  }
}

/** Returns the same bytes as a plain Uint8Array: protobuf-es would return subarrays of a Buffer as Buffers too. */
function bytesOf(buffer: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer.buffer as ArrayBuffer, buffer.byteOffset, buffer.byteLength);
}
