import { type DescMessage, type MessageShape, toBinary, toJsonString } from "@bufbuild/protobuf";
import { type Compression, compressedFlag } from "@connectrpc/connect/protocol";
import { messageEvent } from "../protocols/sse/message-event.ts";
import { envelopeHeadBytes, envelopeOf } from "../protocols/wire/envelope.ts";
import { textOfChunk } from "../protocols/wire/grpc-web-text.ts";
import type { EncodedMessage } from "./encoded-message.ts";

/** How a call encodes its messages. */
export type Codec = "binary" | "json" | "text" | "sse";

/** One message for many streams, encoded once per codec. */
export interface SharedMessage {
  /**
   * Encodes the message for streams of the codec, on first use. For server-sent events the result is an event, else an envelope:
   * five bytes (no flags, the length) and the message. gRPC, gRPC-Web and Connect share this envelope; `text` is the base64 of
   * the binary one, for gRPC-Web's text mode. It is not compressed, which all of them allow even on a stream with a negotiated
   * compression. Callers must not modify it.
   */
  encoded(codec: Codec): EncodedMessage;
  /** Returns the same in a compressed envelope, compressed once per codec and compression. */
  compressed(codec: "binary" | "json", compression: Compression): Promise<EncodedMessage>;
}

/** Encodes messages of one type as `toBinary` and `toJsonString` do. */
export interface Encoders<Desc extends DescMessage> {
  binary(message: MessageShape<Desc>): Uint8Array;
  json(message: MessageShape<Desc>): string;
}

/**
 * Creates the shared form of a message, which must not change afterwards.
 * @param encoders default: `toBinary` and `toJsonString`
 */
export function createSharedMessage<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
  encoders?: Encoders<Desc>,
): SharedMessage {
  const encoded: Partial<Record<Codec, EncodedMessage>> = {};
  const compressed = new Map<string, Promise<EncodedMessage>>();
  const shared: SharedMessage = {
    encoded(codec) {
      encoded[codec] ??= encode(schema, message, codec, encoders);
      return encoded[codec];
    },
    compressed(codec, compression) {
      const key = `${codec} ${compression.name}`;
      const kept = compressed.get(key) ?? compress(shared.encoded(codec), compression);
      compressed.set(key, kept);
      return kept;
    },
  };
  return shared;
}

function encode<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
  codec: Codec,
  encoders?: Encoders<Desc>,
): EncodedMessage {
  switch (codec) {
    case "binary":
      return envelopedMessage(encoders?.binary(message) ?? toBinary(schema, message));
    case "json":
      return envelopedMessage(Buffer.from(encoders?.json(message) ?? toJsonString(schema, message)));
    case "text": {
      const { frame, sizeBytes } = encode(schema, message, "binary", encoders);
      return { frame: textOfChunk(frame), sizeBytes };
    }
    case "sse":
      return messageEvent(schema, message);
  }
}

async function compress({ frame }: EncodedMessage, compression: Compression): Promise<EncodedMessage> {
  const data = new Uint8Array(frame.subarray(envelopeHeadBytes));
  return envelopedMessage(await compression.compress(data), compressedFlag);
}

function envelopedMessage(data: Uint8Array, flags = 0): EncodedMessage {
  return { frame: envelopeOf(data, flags), sizeBytes: data.byteLength };
}
