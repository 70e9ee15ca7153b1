import type { ClientHttp2Stream } from "node:http2";
import { chargeLoopTime } from "../../rpc/call/loop-time.ts";
import type { RoutedCall } from "../../rpc/call/routed-call.ts";
import { requestTimeoutMs } from "../../rpc/call/timeouts.ts";
import { deadlinePassed } from "../../rpc/call/until-call-ends.ts";
import { infraErrorFrom } from "../../rpc/errors/connect-error.ts";
import type { HttpRequest } from "../../rpc/protocols/http/http-exchange.ts";
import { createEnvelopeTracker } from "./envelope-tracker.ts";

/** How long the caller's access is not checked again. */
const recheckMs = 1000;

/**
 * Passes the body of a request to a host, at the pace of the host. A request with one message has a time limit; each message of a
 * stream of requests counts as a call.
 * @param assertAccess throws when the caller's access has changed. Over gRPC a call begins with its headers, and the rest may arrive
 * a minute later
 * @returns a function that stops passing
 */
export function sendRequest(
  request: HttpRequest,
  stream: ClientHttp2Stream,
  call: RoutedCall,
  assertAccess: () => void,
): () => void {
  if (stream.writableEnded) {
    // The HTTP method has no body.
    return () => {};
  }
  if (request.readableEnded) {
    stream.end();
    return () => {};
  }
  const { methodKind } = call.method;
  const isSingle = methodKind === "unary" || methodKind === "server_streaming";
  const messages = isSingle ? undefined : createEnvelopeTracker(undefined, () => call.countMessage());
  const timer = isSingle ? setTimeout(() => call.end(deadlinePassed()), requestTimeoutMs).unref() : undefined;
  request.usage?.awaitBody(isSingle);

  let checkedAtMs = performance.now();

  /** Does what must precede the next part of the request. Returns whether it may pass. */
  function admits(chunk: Buffer | undefined): boolean {
    try {
      const nowMs = performance.now();
      if (nowMs - checkedAtMs > recheckMs) {
        checkedAtMs = nowMs;
        assertAccess();
      }
      if (chunk !== undefined) {
        messages?.push(chunk);
      }
      return true;
    } catch (error) {
      stop();
      call.end(infraErrorFrom(error));
      return false;
    }
  }

  const onData = (chunk: Buffer) => {
    chargeLoopTime(call);
    if (admits(chunk) && !stream.write(chunk)) {
      request.pause();
    }
  };
  const onEnd = () => {
    if (admits(undefined)) {
      stop();
      stream.end();
    }
  };
  const onDrain = () => request.resume();

  function stop(): void {
    clearTimeout(timer);
    request.usage?.awaitBody(false);
    request.off("data", onData);
    request.off("end", onEnd);
    stream.off("drain", onDrain);
  }

  request.on("data", onData);
  request.once("end", onEnd);
  stream.on("drain", onDrain);
  // Listening resumes a request only if it was not paused before.
  request.resume();
  return stop;
}
