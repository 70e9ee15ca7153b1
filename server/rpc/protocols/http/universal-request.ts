import type { UniversalServerRequest } from "@connectrpc/connect/protocol";
import { callerLeft } from "../../call/caller-left.ts";
import { dropUnboundedTimeout } from "../wire/unbounded-timeout.ts";
import type { NodeRequest, NodeResponse } from "./http-exchange.ts";

/**
 * Converts a request for connect-es, without copying its body. Its signal is aborted when the connection or the HTTP/2 stream is
 * gone, and also when the answer is complete.
 *
 * Replaces `universalRequestFromNodeRequest` of connect-node, which throws for a `Host` that is not a URL, and creates an error
 * with a stack for every call that ends.
 */
export function universalRequestFrom(request: NodeRequest, response: NodeResponse): UniversalServerRequest {
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
  dropUnboundedTimeout(header);
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
  };
}
