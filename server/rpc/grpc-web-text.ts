import { InfraError } from "../../adapters/host/infra-error.ts";
import { envelopeHeadBytes } from "./envelope.ts";
import { envelopeEndOf } from "./one-envelope.ts";

// gRPC-Web's text mode: what its binary mode sends, in base64, because browsers that Google's client supports cannot read the bytes of
// an answer that is not over (grpc-web's PROTOCOL-WEB.md).

/** Of the binary mode that the text mode stands for. */
export const grpcWebType = "application/grpc-web+proto";

/** Of answers. */
export const grpcWebTextType = "application/grpc-web-text+proto";

export function isGrpcWebText(contentType = ""): boolean {
  return /^application\/grpc-web-text(?:\+proto)?(?:$|[ ;])/i.test(contentType);
}

/** How many characters have the head of an envelope in them. */
const headChars = 8;

/**
 * How long a body in base64 may be that has to be one envelope, as its head says.
 * @returns undefined as long as the head is not there; 0 for a message larger than `maxBytes`, and for what is not base64
 */
export function textEndOf(body: Buffer, maxBytes: number): number | undefined {
  if (body.byteLength < headChars) {
    return undefined;
  }
  const head = Buffer.from(body.toString("latin1", 0, headChars), "base64");
  const endBytes = head.byteLength < envelopeHeadBytes ? 0 : envelopeEndOf(head, maxBytes);
  // Some encode the head for itself, with padding.
  return endBytes === 0 ? 0 : 4 * Math.ceil(endBytes / 3) + 4;
}

/**
 * Decodes a request body: one base64 text, or two if the client encodes the head of the envelope separately. Not more: decoding
 * millions of four-character texts would take many times the memory of the body.
 * @throws InfraError MALFORMED_REQUEST
 */
export function bytesOfText(body: Buffer): Buffer {
  const text = body.toString("latin1");
  const padding = text.indexOf("=");
  const firstEnd = padding === -1 ? text.length : text.startsWith("==", padding) ? padding + 2 : padding + 1;
  const parts = [text.slice(0, firstEnd), text.slice(firstEnd)];
  if (!parts.every((part) => part.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(part))) {
    throw new InfraError("MALFORMED_REQUEST", "the body of application/grpc-web-text is not base64");
  }
  return Buffer.concat(parts.map((part) => Buffer.from(part, "base64")));
}

/** Each chunk by itself, so that a client can read it before the next one comes. */
export async function* textOfBytes(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of chunks) {
    const { buffer, byteOffset, byteLength } = chunk;
    yield Buffer.from(Buffer.from(buffer, byteOffset, byteLength).toString("base64"), "latin1");
  }
}
