import type { ConnectError } from "@connectrpc/connect";
import { codeToHttpStatus } from "@connectrpc/connect/protocol-connect";
import { dropRest, type HttpResponse, isGone } from "../http/http-exchange.ts";
import { compressMinBytes } from "../wire/compression.ts";
import { connectErrorBody } from "../wire/connect-end.ts";
import type { DirectExchange } from "./exchange.ts";
import { writeHead, writePlain } from "./response.ts";
import { writeEnd } from "./stream.ts";

/** Writes the error that ended a call, whatever has been written before. */
export async function writeError(
  exchange: DirectExchange,
  response: HttpResponse,
  error: ConnectError,
): Promise<void> {
  if (response.headersSent) {
    writeEnd(exchange, response, error);
    return;
  }
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
