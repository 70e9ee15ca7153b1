import { callerLeft } from "../../call/caller-left.ts";
import { envelopeHeadBytes } from "../wire/envelope.ts";
import { bytesOfText, textEndOf } from "../wire/grpc-web-text.ts";
import { assertOneEnvelope, envelopeEndOf } from "../wire/one-envelope.ts";
import type { HttpRequest } from "./http-exchange.ts";

/** How a body carries its message: without an envelope, in an envelope, or in an envelope in base64. */
export type BodyForm = "plain" | "enveloped" | "text";

/** Returns the largest size of a body in bytes; undefined until enough of it has arrived to know. */
const endOf: Readonly<Record<BodyForm, (body: Buffer, maxBytes: number) => number | undefined>> = {
  plain: (_body, maxBytes) => maxBytes,
  enveloped: (body, maxBytes) =>
    body.byteLength < envelopeHeadBytes ? undefined : envelopeEndOf(body, maxBytes),
  text: textEndOf,
};

/**
 * Reads the body of a request with one message: all of it, or as much as is needed to refuse it. That is more than `maxBytes`
 * bytes, the head of an envelope that announces more, or the first byte after an envelope. Never settles if the client leaves
 * before; that ends its call.
 * @param maxBytes limit of the message
 */
export function readBody(request: HttpRequest, maxBytes: number, form: BodyForm): Promise<Buffer> {
  if (request.readableEnded) {
    // At the end of an HTTP/2 stream Node reads on by itself, so an empty body may have ended before a listener is added.
    return Promise.resolve(Buffer.alloc(0));
  }
  const { usage } = request;
  usage?.awaitBody(true);
  let bytes: Buffer = Buffer.alloc(0);
  let sizeBytes = 0;
  let endBytes: number | undefined;
  return new Promise((resolve) => {
    // The request must not keep anything of the call, since Node keeps the request longer.
    const onEnd = () => {
      request.off("data", onData);
      request.off("end", onEnd);
      usage?.awaitBody(false);
      resolve(bytes.subarray(0, sizeBytes));
    };
    const onData = (chunk: Buffer) => {
      // A single chunk is kept as it is.
      bytes = sizeBytes === 0 ? chunk : appended(bytes, sizeBytes, chunk);
      sizeBytes += chunk.byteLength;
      usage?.add(chunk.byteLength);
      endBytes ??= endOf[form](bytes.subarray(0, sizeBytes), maxBytes);
      if (endBytes !== undefined && sizeBytes > endBytes) {
        request.pause();
        onEnd();
      }
    };
    request.on("data", onData);
    request.once("end", onEnd);
  });
}

/**
 * Returns the first `sizeBytes` bytes with a chunk appended, in memory of at most twice their size. A list of chunks would take a
 * hundred times the memory for a client that sends single bytes.
 */
function appended(bytes: Buffer, sizeBytes: number, chunk: Buffer): Buffer {
  const newBytes = sizeBytes + chunk.byteLength;
  let target = bytes;
  if (target.byteLength < newBytes) {
    target = Buffer.allocUnsafeSlow(2 * newBytes);
    target.set(bytes.subarray(0, sizeBytes));
  }
  target.set(chunk, sizeBytes);
  return target;
}

/**
 * Does the same for connect-es, which would process everything before refusing a second envelope. Base64 is decoded.
 * @throws InfraError REQUEST_CARDINALITY, MALFORMED_REQUEST, CALLER_LEFT
 */
export async function* oneMessageBody(
  request: HttpRequest,
  maxBytes: number,
  form: BodyForm,
): AsyncGenerator<Uint8Array, void> {
  const read = await new Promise<Buffer>((resolve, reject) => {
    const onClose = () => {
      // This event also follows the end of a complete request, before promises are settled.
      if (!request.readableEnded) {
        reject(callerLeft);
      }
    };
    request.once("close", onClose);
    readBody(request, maxBytes, form).then((bytes) => {
      request.off("close", onClose);
      resolve(bytes);
    }, reject);
  });
  const body = form === "text" ? bytesOfText(wholeGroups(read, request)) : read;
  if (form !== "plain") {
    assertOneEnvelope(body);
  }
  if (body.byteLength > 0) {
    yield body;
  }
}

/**
 * Returns the part of a base64 body that can be decoded: all of it, or whole groups of four characters if reading stopped early.
 */
function wholeGroups(text: Buffer, { readableEnded }: HttpRequest): Buffer {
  return readableEnded ? text : text.subarray(0, text.byteLength - (text.byteLength % 4));
}
