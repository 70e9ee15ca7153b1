import { constants } from "node:http2";
import type { NodeRequest } from "./http-exchange.ts";

/**
 * Cuts a request whose body is not complete after `timeoutMs`. HTTP/1.1 has Node's `requestTimeout` for this. HTTP/2 has no
 * equivalent: a client could keep a call open forever by never sending the body.
 */
export function limitBodyTime(request: NodeRequest, timeoutMs: number): void {
  const { stream } = request;
  if (stream === undefined || request.complete) {
    return;
  }
  const timer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), timeoutMs);
  timer.unref();
  const stop = () => clearTimeout(timer);
  request.once("end", stop);
  request.once("close", stop);
}
