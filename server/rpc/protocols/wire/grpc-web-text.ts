import type {
  UniversalHandlerFn,
  UniversalServerRequest,
  UniversalServerResponse,
} from "@connectrpc/connect/protocol";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { rpcReasons } from "../../reasons.ts";
import { envelopeHeadBytes } from "./envelope.ts";
import { envelopeEndOf } from "./one-envelope.ts";

// gRPC-Web's text mode is its binary mode in base64. Google's client reads answers by XMLHttpRequest, which shows bytes only at the
// end of an answer and text as it arrives (PROTOCOL-WEB.md of grpc-web).

/** Content type of the binary mode. */
export const grpcWebType = "application/grpc-web+proto";

/** Content type of answers in text mode. */
export const grpcWebTextType = "application/grpc-web-text+proto";

/** Reports whether a content type is that of the text mode; its parameters do not matter. */
export function isGrpcWebText(contentType = ""): boolean {
  return /^application\/grpc-web-text(?:\+proto)?(?:$|[ ;])/i.test(contentType);
}

/** Base64 characters that contain the five bytes of an envelope's head. */
const headChars = 8;

/**
 * Returns the largest size in bytes of a base64 body with one envelope, computed from the head of the envelope.
 * @returns undefined until the head has arrived; 0 for a message larger than `maxBytes`, and for text that is not base64
 */
export function textEndOf(body: Buffer, maxBytes: number): number | undefined {
  if (body.byteLength < headChars) {
    return undefined;
  }
  const head = Buffer.from(body.toString("latin1", 0, headChars), "base64");
  const endBytes = head.byteLength < envelopeHeadBytes ? 0 : envelopeEndOf(head, maxBytes);
  // A head that is encoded separately has padding of its own.
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
    throw new InfraError(rpcReasons.MALFORMED_REQUEST, "the body of application/grpc-web-text is not base64");
  }
  return Buffer.concat(parts.map((part) => Buffer.from(part, "base64")));
}

/**
 * Answers a request in text mode with an answer in text mode.
 * @param handle answers requests in binary mode
 * @param request with its body already decoded
 */
export async function handleGrpcWebText(
  handle: UniversalHandlerFn,
  request: UniversalServerRequest,
): Promise<UniversalServerResponse> {
  request.header.set("content-type", grpcWebType);
  const answer = await handle(request);
  const header = new Headers(answer.header);
  if (header.get("content-type")?.startsWith("application/grpc-web") !== true || answer.body === undefined) {
    return answer;
  }
  header.set("content-type", grpcWebTextType);
  return { ...answer, header, body: textOfBytes(answer.body) };
}

async function* textOfBytes(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of chunks) {
    yield textOfChunk(chunk);
  }
}

/** Encodes a part of an answer separately, so that a client can decode it before the next one arrives. */
export function textOfChunk({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(Buffer.from(buffer, byteOffset, byteLength).toString("base64"), "latin1");
}
