import { randomUUID } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { DeclaredReason } from "../../adapters/host/define-reasons.ts";
import type { ListenerFacts } from "../rpc/call/listener-facts.ts";
import { requestIdHeader } from "../rpc/call/request-facts.ts";
import { infraErrorFrom } from "../rpc/errors/connect-error.ts";
import { answerNotFound } from "../rpc/protocols/http/not-found.ts";
import { refuse } from "../rpc/protocols/http/refusal.ts";

export interface AdminRoute<Result> {
  readonly listenerOf: (request: FastifyRequest) => ListenerFacts;
  /** The refusal that only concerns the caller; any other error also belongs in the log. */
  readonly refusal: DeclaredReason;
  /** Message of the log for errors. */
  readonly failed: string;
  readonly answer: () => Promise<Result>;
}

/** Answers a request that is not an RPC, on the admin socket only. Its callers can read the data directory anyway. */
export async function answerAdminRoute<Result extends object>(
  request: FastifyRequest,
  reply: FastifyReply,
  { listenerOf, refusal, failed, answer }: AdminRoute<Result>,
): Promise<Result | FastifyReply> {
  if (listenerOf(request).access !== "adminSocket") {
    answerNotFound(request, reply);
    return reply;
  }
  try {
    return await answer();
  } catch (thrown) {
    const error = infraErrorFrom(thrown);
    const requestId = randomUUID();
    request.log[error.is(refusal) ? "info" : "error"]({ err: error, requestId }, failed);
    reply.hijack();
    refuse(request.raw, reply.raw, error, { [requestIdHeader]: requestId });
    return reply;
  }
}
