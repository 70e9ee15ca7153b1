import { callError } from "./wire-error.ts";

const prefixBytes = 5;
const endFlag = 2;

/** Encodes a message as the body of a Connect stream: a flag, the length in four bytes, and JSON. */
export function connectEnvelope(message: object): Uint8Array<ArrayBuffer> {
  const json = new TextEncoder().encode(JSON.stringify(message));
  const envelope = new Uint8Array(prefixBytes + json.length);
  new DataView(envelope.buffer).setUint32(1, json.length);
  envelope.set(json, prefixBytes);
  return envelope;
}

/** Yields the messages of a Connect stream in JSON. @throws Error of `callError` if the stream ends with an error */
export async function* messagesOfEnvelopes(answer: Response): AsyncGenerator<object, void> {
  let bytes = new Uint8Array();
  for await (const chunk of answer.body ?? new ReadableStream<Uint8Array>()) {
    const joined = new Uint8Array(bytes.length + chunk.length);
    joined.set(bytes);
    joined.set(chunk, bytes.length);
    bytes = joined;
    for (let end = envelopeEnd(bytes); end <= bytes.length; end = envelopeEnd(bytes)) {
      const message = JSON.parse(new TextDecoder().decode(bytes.subarray(prefixBytes, end)));
      const isEnd = bytes[0] === endFlag;
      bytes = bytes.slice(end);
      if (!isEnd) {
        yield message;
      } else if (message.error === undefined) {
        return;
      } else {
        throw callError(message.error);
      }
    }
  }
  throw new Error("the stream broke off before its last envelope");
}

/** Returns the end of the first envelope; infinity if its length has not arrived yet. */
function envelopeEnd(bytes: Uint8Array): number {
  return bytes.length < prefixBytes
    ? Number.POSITIVE_INFINITY
    : prefixBytes + new DataView(bytes.buffer, bytes.byteOffset).getUint32(1);
}
