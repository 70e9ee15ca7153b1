import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { grpcMessage } from "../wire/grpc-end.ts";
import { createBackpressure } from "./backpressure.ts";
import {
  type AnswerHeaders,
  endResponse,
  isGone,
  type NodeRequest,
  type NodeResponse,
} from "./http-exchange.ts";

/**
 * Writes the answer of connect-es at the backpressure of the client. Ends when the last byte is handed over or the client has left; in
 * either case the body is closed, so that no work continues without a reader. The next message is requested when the previous one
 * has left, so that a slow watcher gets the newest state next instead of hundreds buffered by Node.
 *
 * Replaces `universalResponseToNodeResponse` of connect-node: its promise never settles when the client leaves under
 * back-pressure on some Node versions, nor after `end` on any, and it writes to the console.
 *
 * @param headers response headers that do not depend on the call, and those set by plugins (CORS)
 */
export async function writeUniversalResponse(
  answer: UniversalServerResponse,
  request: NodeRequest,
  response: NodeResponse,
  headers: AnswerHeaders,
): Promise<void> {
  const body = request.method === "HEAD" ? undefined : answer.body?.[Symbol.asyncIterator]();
  const backpressure = createBackpressure(response, () => request.usage?.onSent());
  try {
    let chunk = await body?.next();
    if (isGone(response)) {
      return;
    }
    response.writeHead(answer.status, { ...headers, ...nodeHeadersFrom(answer.header, headers.vary) });
    while (chunk !== undefined && chunk.done !== true) {
      backpressure.write(chunk.value);
      if (!(await backpressure.flushed())) {
        return;
      }
      chunk = await body?.next();
      if (isGone(response)) {
        return;
      }
    }
    if (answer.trailer !== undefined) {
      response.addTrailers(nodeHeadersFrom(answer.trailer) as Record<string, string>);
    }
    endResponse(request, response);
  } finally {
    await body?.return?.();
  }
}

/** @param vary value that is already set for the header of that name, which is a list */
function nodeHeadersFrom(header: Headers | undefined, vary?: AnswerHeaders[string]): AnswerHeaders {
  const headers: AnswerHeaders = {};
  header?.forEach((value, name) => {
    headers[name] = name === "grpc-message" ? grpcMessage(value) : value;
  });
  const cookies = header?.getSetCookie() ?? [];
  if (cookies.length > 0) {
    // The only header that may have several lines (RFC 6265, 3).
    headers["set-cookie"] = cookies;
  }
  if (vary !== undefined && headers.vary !== undefined) {
    headers.vary = `${vary}, ${headers.vary}`;
  }
  return headers;
}
