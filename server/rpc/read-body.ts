import { callerLeft } from "./caller-left.ts";
import { envelopeHeadBytes } from "./envelope.ts";
import { GrowingBytes } from "./growing-bytes.ts";
import { bytesOfText, textEndOf } from "./grpc-web-text.ts";
import type { HttpRequest } from "./http-exchange.ts";
import { assertOneEnvelope, envelopeEndOf } from "./one-envelope.ts";

/** How a body carries its message: without an envelope, in an envelope, or in an envelope in base64. */
export type BodyForm = "plain" | "enveloped" | "text";

/** The largest size of a body in bytes; undefined until enough of it has arrived to know. */
const endOf: Readonly<Record<BodyForm, (body: Buffer, maxBytes: number) => number | undefined>> = {
  plain: (_body, maxBytes) => maxBytes,
  enveloped: (body, maxBytes) =>
    body.byteLength < envelopeHeadBytes ? undefined : envelopeEndOf(body, maxBytes),
  text: textEndOf,
};

/**
 * Reads the body of a request for one message: all of it, or no more than shows that it is refused. That is more than `maxBytes`,
 * or of an envelope the head of one that announces more, or the first byte behind it. Never settles when the client leaves
 * before; that ends its call.
 * @param maxBytes of a message
 */
export function readBody(request: HttpRequest, maxBytes: number, form: BodyForm): Promise<Buffer> {
  const body = new GrowingBytes();
  if (request.readableEnded) {
    // Node reads on by itself at the end of a stream of HTTP/2, which an empty body is over with before anybody listens.
    return Promise.resolve(body.whole());
  }
  const { hold } = request;
  hold?.awaitBody(true);
  let endBytes: number | undefined;
  return new Promise((resolve) => {
    // Nothing of the call is to stay with the request, which Node keeps for longer.
    const onEnd = () => {
      request.off("data", onData);
      hold?.awaitBody(false);
      resolve(body.whole());
    };
    const onData = (chunk: Buffer) => {
      body.add(chunk);
      hold?.add(chunk.byteLength);
      endBytes ??= endOf[form](body.whole(), maxBytes);
      if (endBytes !== undefined && body.sizeBytes > endBytes) {
        request.off("data", onData);
        request.off("end", onEnd);
        request.pause();
        hold?.awaitBody(false);
        resolve(body.whole());
      }
    };
    request.on("data", onData);
    request.once("end", onEnd);
  });
}

/**
 * The same for connect-es, which would take apart all that it is given before it refuses the second envelope. Base64 is decoded.
 * @throws InfraError REQUEST_CARDINALITY, MALFORMED_REQUEST, CALLER_LEFT
 */
export async function* oneMessageBody(
  request: HttpRequest,
  maxBytes: number,
  form: BodyForm,
): AsyncGenerator<Uint8Array, void> {
  const read = await new Promise<Buffer>((resolve, reject) => {
    const onClose = () => {
      // It comes behind the end of a whole request as well, before promises are settled.
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

/** The part of a base64 body that can be decoded: all of it, or whole groups of four characters if reading stopped early. */
function wholeGroups(text: Buffer, { readableEnded }: HttpRequest): Buffer {
  return readableEnded ? text : text.subarray(0, text.byteLength - (text.byteLength % 4));
}
