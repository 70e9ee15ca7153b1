import type { Message } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import {
  type Compression,
  pipe,
  type Serialization,
  transformDecompressEnvelope,
  transformParseEnvelope,
  transformSplitEnvelope,
} from "@connectrpc/connect/protocol";

export interface EnvelopeReading {
  readonly serialization: Serialization<Message>;
  /** The largest message, in bytes, after decompression. */
  readonly readMaxBytes: number;
  /** Of the messages that say they are compressed. */
  readonly compression: Compression | null;
  /** What is wrong with the headers; thrown instead of a message. */
  readonly refusal: ConnectError | undefined;
}

/** One byte of flags, four of the message's size. */
const envelopeHeadBytes = 5;

/**
 * The messages of a gRPC request, read when they are asked for. One whole message that is not compressed, as nearly
 * every unary request is, is read here; anything else by connect-es, whose errors it then gets, at the price that
 * `createUnaryGrpcHandler` tells.
 * @throws ConnectError
 */
export async function* messagesOf(
  body: AsyncIterable<Uint8Array>,
  reading: EnvelopeReading,
): AsyncGenerator<unknown, void> {
  const { serialization, readMaxBytes, compression, refusal } = reading;
  if (refusal !== undefined) {
    throw refusal;
  }
  const source = body[Symbol.asyncIterator]();
  try {
    const chunks: Uint8Array[] = [];
    let receivedBytes = 0;
    let plainBytes: number | undefined;
    for (let next = await source.next(); next.done !== true; next = await source.next()) {
      if (next.value.byteLength === 0) {
        continue;
      }
      chunks.push(next.value);
      receivedBytes += next.value.byteLength;
      if (plainBytes === undefined && receivedBytes >= envelopeHeadBytes) {
        plainBytes = plainEnvelopeBytes(Buffer.concat(chunks), readMaxBytes);
      }
      if (receivedBytes === plainBytes) {
        yield serialization.parse(new Uint8Array(Buffer.concat(chunks).subarray(envelopeHeadBytes)));
        chunks.length = 0;
      } else if (receivedBytes > (plainBytes ?? envelopeHeadBytes)) {
        break;
      }
    }
    if (chunks.length > 0) {
      yield* pipe(
        restOf(chunks, source),
        transformSplitEnvelope(readMaxBytes),
        transformDecompressEnvelope(compression, readMaxBytes),
        transformParseEnvelope(serialization),
      );
    }
  } finally {
    await source.return?.();
  }
}

/** The size of the envelope at the start, in bytes, its head included; 0 of one that is compressed or too large. */
function plainEnvelopeBytes(bytes: Buffer, readMaxBytes: number): number {
  const messageBytes = bytes.readUInt32BE(1);
  return bytes[0] === 0 && messageBytes <= readMaxBytes ? envelopeHeadBytes + messageBytes : 0;
}

async function* restOf(
  chunks: readonly Uint8Array[],
  source: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  yield* chunks;
  for (let next = await source.next(); next.done !== true; next = await source.next()) {
    yield next.value;
  }
}
