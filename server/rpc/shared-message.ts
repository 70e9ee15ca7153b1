import { type DescMessage, type MessageShape, toBinary, toJsonString } from "@bufbuild/protobuf";

/** How a call writes its messages. */
export type Codec = "binary" | "json";

/** One message for many streams: encoded once for each codec, however many it is written to. */
export interface SharedMessage {
  /**
   * The message in its envelope, made when it is first asked for: five bytes (no flags, the length) and the message.
   * gRPC, gRPC-Web and Connect have the same envelope. It is not compressed, which any of them allows on a stream for
   * which a compression was agreed on. Whoever gets it must not change it.
   */
  frame(codec: Codec): Buffer;
}

/** The message must not change any more. */
export function createSharedMessage<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
): SharedMessage {
  const frames: Partial<Record<Codec, Buffer>> = {};
  return {
    frame(codec) {
      frames[codec] ??= envelopeOf(
        codec === "binary" ? toBinary(schema, message) : Buffer.from(toJsonString(schema, message)),
      );
      return frames[codec];
    },
  };
}

/** What an envelope has in front of its message. */
export const sharedPrefixBytes = 5;

function envelopeOf(data: Uint8Array): Buffer {
  const envelope = Buffer.allocUnsafe(sharedPrefixBytes + data.byteLength);
  envelope.writeUInt8(0, 0);
  envelope.writeUInt32BE(data.byteLength, 1);
  envelope.set(data, sharedPrefixBytes);
  return envelope;
}
