import type { ConnectError } from "@connectrpc/connect";
import { codeToHttpStatus } from "@connectrpc/connect/protocol-connect";
import { dropRest, endResponse, type HttpResponse, isGone } from "../http/http-exchange.ts";
import { compressMinBytes } from "../wire/compression.ts";
import { connectErrorBody, connectStreamEnd } from "../wire/connect-end.ts";
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
    end(exchange, response, answer.body);
  } else {
    const last = grpcWebEnd(exchange.trailers, undefined);
    end(exchange, response, Buffer.concat([answer.body as Uint8Array, last]));
  }
}

/** Writes the error of a call that has written nothing yet. */
export async function writeError(
  exchange: DirectExchange,
  response: HttpResponse,
  error: ConnectError,
): Promise<void> {
  // connect-go stops sending a request, short of its content-length, once it sees response headers; Node's HTTP/2 library then
  // resets the stream.
  await dropRest(exchange.request);
  if (isGone(response)) {
    return;
  }
  const { form, answerCompression } = exchange.head;
  if (form.isEnveloped) {
    writeHead(exchange, response);
    writeEnd(exchange, response, error);
    return;
  }
  const json = connectErrorBody(error);
  const isCompressed = answerCompression !== null && json.byteLength >= compressMinBytes;
  const body = isCompressed ? await answerCompression.compress(json) : json;
  writePlain(exchange, response, codeToHttpStatus(error.code), "application/json", { body, isCompressed });
}

/** Writes the head of an answer whose messages have envelopes. */
export function writeHead({ answerHeaders, head }: DirectExchange, response: HttpResponse): void {
  answerHeaders["content-type"] = head.form.contentType;
  if (head.answerCompression !== null) {
    answerHeaders[head.form.encodingHeader] = head.answerCompression.name;
  }
  response.writeHead(200, answerHeaders);
}

/** Writes what follows the last message of an answer whose messages have envelopes. */
export function writeEnd(
  exchange: DirectExchange,
  response: HttpResponse,
  error: ConnectError | undefined,
): void {
  const { protocol, trailers } = exchange;
  if (protocol === "grpc") {
    response.addTrailers(grpcTrailers(trailers, error));
    end(exchange, response, undefined);
  } else {
    const last = protocol === "connect" ? connectStreamEnd(trailers, error) : grpcWebEnd(trailers, error);
    end(exchange, response, last);
  }
}

/** Writes a whole answer of unary Connect, which sends trailers as headers. */
function writePlain(
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
  end(exchange, response, body);
}

function end(
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
