import type { ConnectError } from "@connectrpc/connect";
import {
  codeToHttpStatus,
  endStreamFlag,
  endStreamToJson,
  errorToJsonBytes,
} from "@connectrpc/connect/protocol-connect";
import { grpcStatusOk, setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { trailerFlag, trailerSerialize } from "@connectrpc/connect/protocol-grpc-web";
import { nodeHeadersFrom } from "../connect-es/response.ts";
import { etagOf, matchesEtag } from "../http/etag.ts";
import {
  type AnswerHeaders,
  dropRest,
  endResponse,
  type HttpResponse,
  isGone,
} from "../http/http-exchange.ts";
import { compressMinBytes } from "../wire/compression.ts";
import { envelopeOf } from "../wire/envelope.ts";
import type { DirectExchange } from "./direct-exchange.ts";
import type { EncodedAnswer } from "./encode-answer.ts";

/** Trailers of nearly every successful answer. */
const statusOk = { "grpc-status": grpcStatusOk };

/** Writes the one message of a unary call. */
export function writeUnary(exchange: DirectExchange, response: HttpResponse, answer: EncodedAnswer): void {
  const { form, query, answerCompression } = exchange.head;
  if (form.isEnveloped) {
    writeHead(exchange, response);
    if (form.protocol === "grpc") {
      response.addTrailers(exchange.trailers === undefined ? statusOk : grpcTrailersOf(exchange, undefined));
      end(exchange, response, answer.body);
    } else {
      const message = typeof answer.body === "string" ? Buffer.from(answer.body) : answer.body;
      end(exchange, response, Buffer.concat([message, lastEnvelopeOf(exchange, undefined)]));
    }
    return;
  }
  const { answerHeaders } = exchange;
  if (answer.isCompressed && answerCompression !== null) {
    answerHeaders[form.encodingHeader] = answerCompression.name;
  }
  if (query !== undefined && isKnown(exchange, answer)) {
    response.writeHead(304, answerHeaders);
    end(exchange, response, undefined);
    return;
  }
  answerHeaders["content-type"] = form.contentType;
  answerHeaders["content-length"] = answer.sizeBytes;
  response.writeHead(200, withTrailerPrefixes(exchange));
  end(exchange, response, exchange.request.method === "HEAD" ? undefined : answer.body);
}

/**
 * Tags the answer to a GET, and returns whether its client already has it. The client may keep the answer but has to revalidate
 * it each time.
 */
function isKnown({ answerHeaders, request }: DirectExchange, { body, shared }: EncodedAnswer): boolean {
  const etag = etagOf(body, shared);
  const { vary } = answerHeaders;
  answerHeaders.etag = etag;
  answerHeaders["cache-control"] = "private, no-cache";
  answerHeaders.vary = vary === undefined ? "accept-encoding" : `${vary}, accept-encoding`;
  return matchesEtag(request.headers["if-none-match"], etag);
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
  const json = errorToJsonBytes(error, undefined);
  const isCompressed = answerCompression !== null && json.byteLength >= compressMinBytes;
  const body = isCompressed ? await answerCompression.compress(json) : json;
  const { answerHeaders } = exchange;
  answerHeaders["content-type"] = "application/json";
  answerHeaders["content-length"] = body.byteLength;
  if (isCompressed) {
    answerHeaders[form.encodingHeader] = answerCompression.name;
  }
  response.writeHead(codeToHttpStatus(error.code), withTrailerPrefixes(exchange));
  end(exchange, response, exchange.request.method === "HEAD" ? undefined : body);
}

/** Writes the head of an answer whose messages have envelopes. */
export function writeHead(exchange: DirectExchange, response: HttpResponse): void {
  const { answerHeaders, head } = exchange;
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
  if (exchange.protocol === "grpc") {
    response.addTrailers(grpcTrailersOf(exchange, error));
    end(exchange, response, undefined);
  } else {
    end(exchange, response, lastEnvelopeOf(exchange, error));
  }
}

function grpcTrailersOf(exchange: DirectExchange, error: ConnectError | undefined) {
  return nodeHeadersFrom(setTrailerStatus(new Headers(exchange.trailers), error), {});
}

/** Returns the final envelope, which Connect and gRPC-Web have instead of trailers. */
function lastEnvelopeOf({ protocol, trailers }: DirectExchange, error: ConnectError | undefined): Uint8Array {
  if (protocol === "connect") {
    const end = endStreamToJson(trailers ?? new Headers(), error, undefined);
    return envelopeOf(Buffer.from(JSON.stringify(end)), endStreamFlag);
  }
  return envelopeOf(trailerSerialize(setTrailerStatus(new Headers(trailers), error)), trailerFlag);
}

/** Adds the trailers to the headers, as unary Connect sends them. */
function withTrailerPrefixes({ answerHeaders, trailers }: DirectExchange): AnswerHeaders {
  trailers?.forEach((value, name) => {
    answerHeaders[`trailer-${name}`] = value;
  });
  return answerHeaders;
}

function end(
  { request }: DirectExchange,
  response: HttpResponse,
  body: Uint8Array | string | undefined,
): void {
  if (request.complete) {
    response.end(body);
    request.hold?.wrote();
  } else {
    endResponse(request, response, body);
  }
}
