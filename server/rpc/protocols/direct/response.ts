import { endResponse, type HttpResponse } from "../http/http-exchange.ts";
import { grpcTrailers, grpcWebEnd } from "../wire/grpc-end.ts";
import type { EncodedMessage } from "./encode-message.ts";
import type { DirectExchange } from "./exchange.ts";

/** Writes the one message of a unary call. */
export function writeUnary(exchange: DirectExchange, response: HttpResponse, answer: EncodedMessage): void {
  const { form } = exchange.head;
  if (!form.isEnveloped) {
    writePlain(exchange, response, 200, form.contentType, answer);
    return;
  }
  writeHead(exchange, response);
  if (form.protocol === "grpc") {
    response.addTrailers(grpcTrailers(exchange.trailers, undefined));
    endAnswer(exchange, response, answer.body);
  } else {
    const last = grpcWebEnd(exchange.trailers, undefined);
    endAnswer(exchange, response, Buffer.concat([answer.body as Uint8Array, last]));
  }
}

/** Writes the head of an answer whose messages have envelopes. */
export function writeHead({ answerHeaders, head }: DirectExchange, response: HttpResponse): void {
  answerHeaders["content-type"] = head.form.contentType;
  if (head.answerCompression !== null) {
    answerHeaders[head.form.encodingHeader] = head.answerCompression.name;
  }
  response.writeHead(200, answerHeaders);
}

/** Writes a whole answer of unary Connect, which sends trailers as headers. */
export function writePlain(
  exchange: DirectExchange,
  response: HttpResponse,
  status: number,
  contentType: string,
  { body, isCompressed }: EncodedMessage,
): void {
  const { answerHeaders, head, trailers } = exchange;
  answerHeaders["content-type"] = contentType;
  answerHeaders["content-length"] = Buffer.byteLength(body);
  if (isCompressed && head.answerCompression !== null) {
    answerHeaders[head.form.encodingHeader] = head.answerCompression.name;
  }
  trailers?.forEach((value, name) => {
    answerHeaders[`trailer-${name}`] = value;
  });
  response.writeHead(status, answerHeaders);
  endAnswer(exchange, response, body);
}

/** Ends the answer, and stops reading a request that is still arriving. */
export function endAnswer(
  { request }: DirectExchange,
  response: HttpResponse,
  body: Uint8Array | string | undefined,
): void {
  if (request.complete) {
    response.end(body);
    request.usage?.onWritten();
  } else {
    endResponse(request, response, body);
  }
}
