import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { ContextValues } from "@connectrpc/connect";
import type { UniversalServerRequest, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { callerLeft } from "../../call/caller-left.ts";
import { endResponse, type HttpRequest, isGone } from "../http/http-exchange.ts";
import { dropEndlessTimeout } from "../wire/unbounded-timeout.ts";

/**
 * A request and its response as node:http provides them. Over HTTP/2 they come from its compatibility API, which has the same
 * methods; only `stream` is specific to HTTP/2.
 */
export type NodeRequest = IncomingMessage &
  Partial<Pick<Http2ServerRequest, "stream">> &
  Pick<HttpRequest, "hold">;
export type NodeResponse = ServerResponse & Partial<Pick<Http2ServerResponse, "stream">>;

/**
 * Converts a request for connect-es, without copying its body. Its signal is aborted when the connection or the HTTP/2 stream is
 * gone, and also when the answer is complete.
 *
 * Replaces `universalRequestFromNodeRequest` of connect-node, which throws for a `Host` that is not a URL, and creates an error
 * with a stack for every call that ends.
 */
export function universalRequestFrom(
  request: NodeRequest,
  response: NodeResponse,
  contextValues: ContextValues,
): UniversalServerRequest {
  const gone = new AbortController();
  response.once("close", () => gone.abort(callerLeft));
  const header = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (name.startsWith(":") || value === undefined) {
      continue;
    }
    for (const one of Array.isArray(value) ? value : [value]) {
      header.append(name, one);
    }
  }
  dropEndlessTimeout(header);
  return {
    httpVersion: request.httpVersion,
    method: request.method ?? "",
    // Only path and query are used. The client chooses the authority, so it is left out.
    url: new URL(`http://gateway${request.url ?? "/"}`).toString(),
    header,
    // Not the request itself: a reader that stops half-way would destroy it, and over HTTP/1.1 the connection as well, before the
    // answer is sent.
    body: request.iterator({ destroyOnReturn: false }),
    signal: gone.signal,
    contextValues,
  };
}

/**
 * Writes the answer of connect-es at the pace of the client. Ends when the last byte is handed over or the client has left; in
 * either case the body is closed, so that no work continues without a reader.
 *
 * Replaces `universalResponseToNodeResponse` of connect-node: its promise never settles when the client leaves under
 * back-pressure on some Node versions, nor after `end` on any, and it writes to the console.
 *
 * @param headers response headers set by plugins (CORS), added to those of the RPC
 * @param isStream request the next message only when the previous one has left, so that a slow watcher gets the newest state next
 * instead of hundreds buffered by Node
 */
export async function writeUniversalResponse(
  answer: UniversalServerResponse,
  request: NodeRequest,
  response: NodeResponse,
  headers: Record<string, number | string | string[] | undefined>,
  isStream: boolean,
): Promise<void> {
  const body = answer.body?.[Symbol.asyncIterator]();
  try {
    let chunk = await body?.next();
    if (isGone(response)) {
      return;
    }
    response.writeHead(answer.status, nodeHeadersFrom(answer.header, headers));
    while (chunk !== undefined && chunk.done !== true) {
      const isWritten = isStream
        ? await handedOver(response, chunk.value, () => request.hold?.left())
        : response.write(chunk.value) || (await drained(response));
      if (!isWritten) {
        return;
      }
      chunk = await body?.next();
      if (isGone(response)) {
        return;
      }
    }
    if (answer.trailer !== undefined) {
      response.addTrailers(nodeHeadersFrom(answer.trailer, {}));
    }
    endResponse(request, response);
  } finally {
    await body?.return?.();
  }
}

/** Converts headers for Node. */
export function nodeHeadersFrom(
  header: Headers | undefined,
  more: Record<string, number | string | string[] | undefined>,
): Record<string, number | string | string[]> {
  const headers: Record<string, number | string | string[]> = {};
  for (const [name, value] of Object.entries(more)) {
    if (value !== undefined) {
      headers[name] = value;
    }
  }
  header?.forEach((value, name) => {
    // connect-es also escapes ':' and '/', which grpc-js (decodeURI) then shows as "%3A" and "%2F".
    headers[name] = name === "grpc-message" ? encodeURI(decodeURIComponent(value)) : value;
  });
  const cookies = header?.getSetCookie() ?? [];
  if (cookies.length > 0) {
    // The only header that may have several lines (RFC 6265, 3).
    headers["set-cookie"] = cookies;
  }
  return headers;
}

/**
 * Writes a chunk. Resolves to true when it has gone to the connection, which takes no more than the client reads; false if the
 * client has left.
 */
function handedOver(response: NodeResponse, chunk: Uint8Array, onLeft: () => void): Promise<boolean> {
  return new Promise((resolve) => {
    const onClose = () => resolve(false);
    response.once("close", onClose);
    response.write(chunk, (error) => {
      response.off("close", onClose);
      onLeft();
      resolve(error === undefined || error === null);
    });
  });
}

/** Resolves to true when the client has read enough to continue; false if it has left. */
function drained(response: NodeResponse): Promise<boolean> {
  if (isGone(response)) {
    return Promise.resolve(false);
  }
  return new Promise((resolve) => {
    const settle = (isDrained: boolean) => {
      response.off("drain", onDrain);
      response.off("close", onClose);
      resolve(isDrained);
    };
    const onDrain = () => settle(true);
    const onClose = () => settle(false);
    response.once("drain", onDrain);
    response.once("close", onClose);
  });
}
