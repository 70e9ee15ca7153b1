import type { DescMethod } from "@bufbuild/protobuf";
import type { UniversalServerRequest, UniversalServerResponse } from "@connectrpc/connect/protocol";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ListenerFacts } from "../../call/listener-facts.ts";
import type { RequestFacts } from "../../call/request-facts.ts";
import { requestTimeoutMs } from "../../call/timeouts.ts";
import { isGrpcWebText } from "../wire/grpc-web-text.ts";
import { limitBodyTime } from "./body-timeout.ts";
import { type AnswerHeaders, dropRest } from "./http-exchange.ts";
import { type BodyForm, oneMessageBody } from "./read-body.ts";
import type { refuse } from "./refusal.ts";
import { serveRequest } from "./serve-request.ts";
import { universalRequestFrom } from "./universal-request.ts";
import { writeUniversalResponse } from "./universal-response.ts";

/** Answers a request of a method. */
export type Handle = (
  request: UniversalServerRequest,
  facts: RequestFacts,
) => Promise<UniversalServerResponse>;

/** How one request is served by a method. */
export interface Served {
  readonly method: DescMethod;
  /** The largest message read, in bytes, after decompression. */
  readonly readMaxBytes: number;
  readonly handle: Handle;
  /** Sends an error in the request's protocol if there is no call. */
  readonly refuse: typeof refuse;
}

/** Another way to answer a method at its own path, selected by request headers. */
export interface Alternative extends Served {
  /** Whether GET may request it. */
  readonly byGet: boolean;
  accepts(request: FastifyRequest): boolean;
}

/** Content types whose messages have envelopes. */
const envelopedTypes = /^application\/(?:grpc|connect\+)/i;

function bodyFormOf(contentType = ""): BodyForm {
  return isGrpcWebText(contentType) ? "text" : envelopedTypes.test(contentType) ? "enveloped" : "plain";
}

/** Answers a request outside Fastify, with its own request id, if its listener serves the method. */
export async function serve(
  { method, readMaxBytes, handle, refuse }: Served,
  request: FastifyRequest,
  reply: FastifyReply,
  listener: ListenerFacts,
): Promise<void> {
  reply.hijack();
  const { raw, log } = request;
  const headers = reply.getHeaders() as AnswerHeaders;
  const arrived = { request: raw, response: reply.raw, listener, headers, log };
  const isSingle = method.methodKind === "unary" || method.methodKind === "server_streaming";
  await serveRequest(method, refuse, arrived, async (facts, headers) => {
    const universal = universalRequestFrom(raw, reply.raw);
    if (!isSingle) {
      await writeUniversalResponse(await handle(universal, facts), raw, reply.raw, headers);
      return;
    }
    limitBodyTime(raw, requestTimeoutMs);
    const form = bodyFormOf(raw.headers["content-type"]);
    const body = oneMessageBody(raw, readMaxBytes, form);
    const answer = await handle({ ...universal, body }, { ...facts, isText: form === "text" });
    // Only an error can be answered before the end of such a request. connect-go stops sending a request, short of its
    // content-length, once it sees response headers, and Node's HTTP/2 library then resets the stream.
    await dropRest(raw);
    await writeUniversalResponse(answer, raw, reply.raw, headers);
  });
}
