import { fromJson, type JsonValue, type Message } from "@bufbuild/protobuf";
import {
  createAsyncIterable,
  createMethodSerializationLookup,
  pipe,
  type Serialization,
  transformDecompressEnvelope,
  transformParseEnvelope,
  transformSplitEnvelope,
} from "@connectrpc/connect/protocol";
import { endStreamFlag } from "@connectrpc/connect/protocol-connect";
import { trailerFlag } from "@connectrpc/connect/protocol-grpc-web";
import type { Route } from "../../call/router.ts";
import { messageTooLarge } from "../../errors/message-too-large.ts";
import { envelopeHeadBytes } from "../wire/envelope.ts";
import { jsonTextOf } from "../wire/json-text.ts";
import { assertOneEnvelope } from "../wire/one-envelope.ts";
import { singleOf } from "../wire/single-of.ts";
import { unknownFieldsOf } from "../wire/unknown-fields.ts";
import type { RequestHead, WireForm } from "./request.ts";

/** Receives the names of ignored fields that the message does not have. */
type NoteUnknownFields = (names: readonly string[]) => void;

/**
 * Reads the one message of a request from its body.
 * @throws InfraError REQUEST_CARDINALITY, MESSAGE_TOO_LARGE; ConnectError
 */
export type ReadMessage = (
  body: Buffer,
  head: RequestHead,
  noteUnknownFields: NoteUnknownFields,
) => Message | Promise<Message>;

/** Flag of the final envelope of a request stream, which is not a message. */
const endFlags = { connect: endStreamFlag, "grpc-web": trailerFlag, grpc: undefined } as const;

/** @param route of one method: its decoders are created once, not for each call */
export function createReadMessage({
  method,
  readMaxBytes,
  writeMaxBytes,
  jsonOptions,
}: Pick<Route, "method" | "readMaxBytes" | "writeMaxBytes" | "jsonOptions">): ReadMessage {
  const limits = { readMaxBytes, writeMaxBytes };
  const serializations = createMethodSerializationLookup(method, undefined, jsonOptions, limits);
  const binary = serializations.getI(true);
  const json = serializations.getI(false);

  function readJson(bytes: Uint8Array, noteUnknownFields: NoteUnknownFields): Message {
    const text = jsonTextOf(bytes);
    let value: JsonValue;
    let message: Message;
    try {
      value = JSON.parse(text);
      message = fromJson(method.input, value, jsonOptions);
    } catch {
      // Parses again with connect-es, which fails with its own message.
      return json.parse(bytesOf(bytes));
    }
    if (jsonOptions.ignoreUnknownFields === true) {
      noteUnknownFields(unknownFieldsOf(method.input, value));
    }
    return message;
  }

  function parse(form: WireForm, data: Uint8Array, noteUnknownFields: NoteUnknownFields): Message {
    return form.isBinary ? binary.parse(bytesOf(data)) : readJson(data, noteUnknownFields);
  }

  // A single whole message, which nearly every request has, is read here. Anything else is read by connect-es, so that it gets the
  // errors of connect-es.
  function readEnvelope(
    body: Buffer,
    head: RequestHead,
    note: NoteUnknownFields,
  ): Message | Promise<Message> {
    assertOneEnvelope(body);
    const isWhole =
      body.byteLength >= envelopeHeadBytes && body.byteLength === envelopeHeadBytes + body.readUInt32BE(1);
    if (isWhole && body[0] === 0 && body.byteLength <= envelopeHeadBytes + readMaxBytes) {
      return parse(head.form, body.subarray(envelopeHeadBytes), note);
    }
    const serialization: Serialization<Message> = {
      serialize: binary.serialize,
      parse: (data) => parse(head.form, data, note),
    };
    const endFlag = endFlags[head.form.protocol];
    const messages = pipe(
      createAsyncIterable(body.byteLength === 0 ? [] : [bytesOf(body)]),
      transformSplitEnvelope(readMaxBytes),
      transformDecompressEnvelope(head.requestCompression, readMaxBytes),
      endFlag === undefined
        ? transformParseEnvelope(serialization)
        : transformParseEnvelope(serialization, endFlag),
    );
    return singleOf(messages) as Promise<Message>;
  }

  function readPlain(body: Buffer, head: RequestHead, note: NoteUnknownFields): Message | Promise<Message> {
    if (body.byteLength > readMaxBytes) {
      throw messageTooLarge(body.byteLength, readMaxBytes);
    }
    return head.requestCompression === null
      ? parse(head.form, body, note)
      : head.requestCompression
          .decompress(bytesOf(body), readMaxBytes)
          .then((data) => parse(head.form, data, note));
  }

  return (body, head, noteUnknownFields) =>
    (head.form.isEnveloped ? readEnvelope : readPlain)(body, head, noteUnknownFields);
}

/** Returns the same bytes as a plain Uint8Array: protobuf-es would return subarrays of a Buffer as Buffers too. */
function bytesOf(buffer: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer.buffer as ArrayBuffer, buffer.byteOffset, buffer.byteLength);
}
