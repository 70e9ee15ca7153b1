import { randomUUID } from "node:crypto";
import type { DescMethod } from "@bufbuild/protobuf";
import type { FastifyBaseLogger } from "fastify";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import { unmapped } from "../../../config/address-range.ts";
import type { Peer } from "../../call/call.ts";
import type { ListenerFacts } from "../../call/listener-facts.ts";
import { type RequestFacts, requestIdHeader } from "../../call/request-facts.ts";
import { infraErrorFrom } from "../../errors/connect-error.ts";
import { certificateStateOf } from "./client-certificate.ts";
import { type AnswerHeaders, authorityOf, type HttpRequest, type HttpResponse } from "./http-exchange.ts";
import { listenerRefusalOf } from "./listener-services.ts";
import type { refuse } from "./refusal.ts";

/** A request of a method that has arrived. */
export interface ArrivedRequest {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  /** Facts of the listener that received it. */
  readonly listener: ListenerFacts;
  /** Headers of any answer to it. The request id is added. */
  readonly headers: AnswerHeaders;
  readonly log: Pick<FastifyBaseLogger, "error">;
}

/**
 * Answers a request with its own request id, if its listener serves the method.
 * @param refuse sends an error in the request's protocol if there is no call
 * @param answer writes the answer, which begins with the headers
 */
export async function serveRequest(
  method: DescMethod,
  refuseCall: typeof refuse,
  { request, response, listener, headers, log }: ArrivedRequest,
  answer: (facts: RequestFacts, headers: AnswerHeaders) => Promise<void>,
): Promise<void> {
  const requestId = randomUUID();
  headers[requestIdHeader] = requestId;
  const refusal = listenerRefusalOf(method.parent, listener.address, listener.services);
  if (refusal !== undefined) {
    refuseCall(request, response, refusal, headers, { errorDetails: listener.errorDetails });
    return;
  }
  try {
    await answer(
      { peer: peerFromRequest(request, listener), requestId, response, usage: request.usage },
      headers,
    );
  } catch (thrown) {
    const error = infraErrorFrom(thrown);
    if (!error.is(hostReasons.CALLER_LEFT)) {
      log.error({ err: thrown, requestId }, "an answer could not be written");
    }
    if (response.headersSent) {
      response.destroy();
    } else {
      refuseCall(request, response, error, headers, { errorDetails: listener.errorDetails });
    }
  }
}

/** Describes how a request reached the gateway. */
export function peerFromRequest(request: HttpRequest, listener: ListenerFacts): Peer {
  const certificate = listener.isTls ? certificateStateOf(request) : undefined;
  return {
    // A dual-stack socket shows an IPv4 address as ::ffff:192.0.2.7.
    address: unmapped(request.socket.remoteAddress ?? "unix"),
    listener: listener.address,
    services: listener.services,
    access: listener.access,
    isTls: listener.isTls,
    authority: authorityOf(request),
    certificate: certificate?.kind === "verified" ? certificate.certificate : undefined,
    httpVersion: request.httpVersion as Peer["httpVersion"],
    errorDetails: listener.errorDetails,
    lvmd: listener.lvmd,
  };
}
