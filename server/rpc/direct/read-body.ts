import { envelopeHeadBytes } from "../envelope.ts";
import type { HttpRequest } from "../http-exchange.ts";

const nothing = Buffer.alloc(0);

/**
 * Reads all of a request's body, or so much of one that is too large that whoever decodes it must see that: more than
 * `maxBytes`, or of envelopes the head of one that announces more, or the first two of them. Never settles when the client
 * leaves before; that ends its call.
 * @param maxBytes of a message
 */
export function readBody(request: HttpRequest, maxBytes: number, isEnveloped: boolean): Promise<Buffer> {
  if (request.readableEnded) {
    // Node reads on by itself at the end of a stream of HTTP/2, which an empty body is over with before anybody listens.
    return Promise.resolve(nothing);
  }
  const limitBytes = isEnveloped ? 2 * (envelopeHeadBytes + maxBytes) : maxBytes;
  return new Promise((resolve) => {
    let first: Buffer = nothing;
    let chunks: Buffer[] | undefined;
    let sizeBytes = 0;
    let isAnnounced = !isEnveloped;
    const whole = () => (chunks === undefined ? first : Buffer.concat(chunks, sizeBytes));
    // Nothing of the call is to stay with the request, which Node keeps for longer.
    const onEnd = () => {
      request.off("data", onData);
      resolve(whole());
    };
    const onData = (chunk: Buffer) => {
      if (sizeBytes === 0) {
        first = chunk;
      } else {
        chunks ??= [first];
        chunks.push(chunk);
      }
      sizeBytes += chunk.byteLength;
      let announcedBytes = 0;
      if (!isAnnounced && sizeBytes >= envelopeHeadBytes) {
        isAnnounced = true;
        announcedBytes = whole().readUInt32BE(1);
      }
      if (sizeBytes > limitBytes || announcedBytes > maxBytes) {
        request.off("data", onData);
        request.off("end", onEnd);
        request.pause();
        resolve(whole());
      }
    };
    request.on("data", onData);
    request.once("end", onEnd);
  });
}
