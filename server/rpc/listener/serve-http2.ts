import type { IncomingHttpHeaders } from "node:http";
import type { Http2SecureServer, Http2Server, ServerHttp2Stream } from "node:http2";
import { Http2Exchange } from "../protocols/http/http2-exchange.ts";
import type { ListenerOptions } from "./listener-options.ts";
import type { AdmitsRequest } from "./request-checks.ts";

type StreamListener = (
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  flags: number,
  rawHeaders: string[],
) => void;

function ignore(): void {}

/**
 * Answers the requests of an HTTP/2 server: the usual ones as streams, and those that `onStream` does not answer, or that need
 * Node's compatibility API, by `onRequest`.
 */
export function serveHttp2(
  h2: Http2Server | Http2SecureServer,
  admits: AdmitsRequest,
  onRequest: ListenerOptions["onRequest"],
  onStream: ListenerOptions["onStream"],
): void {
  // The compatibility API has everything that NodeRequest and NodeResponse need.
  h2.on("request", onRequest as never);
  // The compatibility API is a "stream" listener, which Node adds with the first "request" listener.
  const [toCompatibilityApi] = h2.listeners("stream") as StreamListener[];
  if (onStream === undefined || toCompatibilityApi === undefined) {
    return;
  }
  h2.off("stream", toCompatibilityApi);
  const listener: StreamListener = (stream, headers, flags, rawHeaders) => {
    // If its client resets a stream, `close` also reports the end.
    stream.on("error", ignore);
    const exchange = new Http2Exchange(stream, headers, rawHeaders);
    // CONNECT and `expect` are handled by the compatibility API.
    const isUsual = exchange.method === "POST" && headers.expect === undefined;
    if (isUsual && (!admits(exchange, exchange) || onStream(exchange))) {
      return;
    }
    exchange.usage?.release();
    toCompatibilityApi(stream, headers, flags, rawHeaders);
  };
  h2.on("stream", listener);
}
