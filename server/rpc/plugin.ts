import { randomUUID } from "node:crypto";
import type { DescMethod } from "@bufbuild/protobuf";
import { createContextValues } from "@connectrpc/connect";
import {
  createAsyncIterable,
  type UniversalHandlerFn,
  type UniversalServerResponse,
} from "@connectrpc/connect/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { InfraError } from "../../adapters/host/infra-error.ts";
import { unmapped } from "../config/address-range.ts";
import { limitBodyTime } from "./body-time.ts";
import { authorityOf } from "./browser-guard.ts";
import type { Peer } from "./call.ts";
import { infraErrorFrom } from "./errors.ts";
import { certificateStateOf } from "./listener/client-certificate.ts";
import type { ListenerFacts } from "./listener-facts.ts";
import { listenerRefusalOf } from "./listener-services.ts";
import { dropRest, universalRequestFrom, writeUniversalResponse } from "./node-adapter.ts";
import { refuse } from "./refusal.ts";
import { requestFactsKey, requestIdHeader } from "./request-facts.ts";
import type { Route } from "./router.ts";
import { requestTimeoutMs } from "./timeouts.ts";

export interface RpcPluginOptions {
  readonly routes: readonly Route[];
  /** What answers some requests of a method instead of its protocols: server-sent events. */
  readonly otherAnswers?: ReadonlyMap<DescMethod, OtherAnswer>;
  readonly listenerOf: (request: FastifyRequest) => ListenerFacts;
}

/**
 * Takes every body as it comes. No body is Fastify's to parse: not an RPC's, and not that of a request which
 * reaches nothing, which it would refuse in words that no RPC client reads.
 */
export function leaveBodiesUnread(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
}

/**
 * Serves the routes on a Fastify instance, each at its path and under `/api`. RPC bodies are neither read nor
 * parsed by Fastify, and answers do not pass its serialisation; its onRequest and onResponse hooks see them. A
 * verb that the method does not take gets HTTP 405.
 */
export async function rpcPlugin(
  app: FastifyInstance,
  { routes, listenerOf, otherAnswers }: RpcPluginOptions,
): Promise<void> {
  leaveBodiesUnread(app);
  for (const route of routes) {
    const { handle } = route;
    const other = otherAnswers?.get(handle.method);
    const served: Served = {
      method: handle.method,
      handle: async (request) => withWords(await handle(request)),
      refuse,
    };
    const answer = (request: FastifyRequest, reply: FastifyReply) =>
      serve(served, request, reply, listenerOf);
    const answerEither = (request: FastifyRequest, reply: FastifyReply, other: OtherAnswer) => {
      if (other.isWanted(request)) {
        return serve(other, request, reply, listenerOf);
      }
      return request.method === "GET"
        ? reply.code(406).type("text/plain").send(`${bareAnswers[406]}\n`)
        : answer(request, reply);
    };
    const handler =
      other === undefined
        ? answer
        : (request: FastifyRequest, reply: FastifyReply) => answerEither(request, reply, other);
    const method = route.rule.get || other?.byGet === true ? ["GET", "POST"] : ["POST"];
    // OPTIONS belongs to CORS; HEAD comes with GET, but not for streams.
    const exposeHeadRoute = other === undefined;
    const taken = ["OPTIONS", ...method, ...(exposeHeadRoute && method.includes("GET") ? ["HEAD"] : [])];
    const refused = app.supportedMethods.filter((name) => !taken.includes(name));
    for (const url of [route.path, `/api${route.path}`]) {
      app.route({ method, url, exposeHeadRoute, handler });
      app.route({
        method: refused,
        url,
        handler: (_request, reply) =>
          reply.code(405).header("allow", method.join(", ")).type("text/plain").send(`${bareAnswers[405]}\n`),
      });
    }
  }
}

/** What is answered with a status alone, because no protocol's error form applies. */
const bareAnswers: Readonly<Record<number, string>> = {
  405: "this RPC takes POST, and GET only where it has no side effects and tells no secrets (Connect GET; of streams, server-sent events)",
  406: "GET of this stream needs the header accept: text/event-stream (server-sent events)",
  415: "the content type is none of this RPC's. A unary RPC takes application/json or application/proto (Connect), a stream application/connect+json or application/connect+proto (Connect, with five bytes before each message), both application/grpc-web+proto (gRPC-Web) and application/grpc+proto (gRPC). A stream of answers takes application/json with the header accept: text/event-stream (server-sent events)",
  505: "this RPC needs HTTP/2",
};

/** A method as one request calls it. */
export interface Served {
  readonly method: DescMethod;
  readonly handle: UniversalHandlerFn;
  /** Answers in the words of the request's protocol where there is no call. */
  readonly refuse: typeof refuse;
}

/** Another way to answer a method at its own path, which requests ask for by their headers. */
export interface OtherAnswer extends Served {
  /** Whether GET may ask for it. */
  readonly byGet: boolean;
  isWanted(request: FastifyRequest): boolean;
}

/** Has a request answered outside of Fastify, under an id of its own, if its listener serves the method. */
export async function serve(
  { method, handle, refuse }: Served,
  request: FastifyRequest,
  reply: FastifyReply,
  listenerOf: RpcPluginOptions["listenerOf"],
): Promise<void> {
  reply.hijack();
  const requestId = randomUUID();
  const headers = { ...reply.getHeaders(), [requestIdHeader]: requestId };
  const listener = listenerOf(request);
  const { methodKind } = method;
  const refusal = listenerRefusalOf(method.parent, listener.address, listener.services);
  if (refusal !== undefined) {
    refuse(request.raw, reply.raw, refusal, headers);
    return;
  }
  const isSingle = methodKind === "unary" || methodKind === "server_streaming";
  try {
    if (isSingle) {
      limitBodyTime(request.raw, requestTimeoutMs);
    }
    const peer = peerFromRequest(request, listener);
    const values = createContextValues().set(requestFactsKey, { peer, requestId, response: reply.raw });
    const answer = await handle(universalRequestFrom(request.raw, reply.raw, values));
    if (isSingle) {
      // Only an error can come before the end of such a request. connect-go ends a request short of its
      // content-length once it sees response headers, and Node's HTTP/2 library then resets the stream.
      await dropRest(request.raw);
    }
    const isStream = methodKind !== "unary";
    await writeUniversalResponse(answer, request.raw, reply.raw, headers, isStream);
  } catch (thrown) {
    const error = infraErrorFrom(thrown);
    if (error.reason !== "CALLER_LEFT") {
      request.log.error({ err: thrown, requestId }, "an answer could not be written");
    }
    if (reply.raw.headersSent) {
      reply.raw.destroy();
    } else {
      refuse(request.raw, reply.raw, error, headers);
    }
  }
}

/** How a request reached the gateway, by a listener of which this is known. */
export function peerFromRequest(request: FastifyRequest, listener: ListenerFacts): Peer {
  const certificate = listener.isTls ? certificateStateOf(request.raw) : undefined;
  return {
    // A socket of both families shows an IPv4 address as ::ffff:192.0.2.7.
    address: unmapped(request.ip ?? "unix"),
    listener: listener.address,
    services: listener.services,
    access: listener.access,
    isTls: listener.isTls,
    authority: authorityOf(request.raw),
    certificate: certificate?.kind === "verified" ? certificate.certificate : undefined,
    httpVersion: request.raw.httpVersion as Peer["httpVersion"],
  };
}

function withWords(answer: UniversalServerResponse): UniversalServerResponse {
  const words = answer.body === undefined ? bareAnswers[answer.status] : undefined;
  if (words === undefined) {
    return answer;
  }
  const header = new Headers(answer.header);
  header.set("content-type", "text/plain");
  return { ...answer, header, body: createAsyncIterable([Buffer.from(`${words}\n`)]) };
}

/** gRPC's trailers need HTTP/2; what a gRPC client sends over HTTP/1.1 is refused, whatever its path. */
export async function refuseGrpcOverHttp1(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const type = request.headers["content-type"] ?? "";
  if (request.raw.httpVersion !== "2.0" && /^application\/grpc($|[+;])/.test(type)) {
    const text = "gRPC needs HTTP/2; over HTTP/1.1 use Connect or gRPC-Web\n";
    await reply.code(505).header("connection", "close").type("text/plain").send(text);
  }
}

/**
 * Answers what no route serves. A path of an RPC's shape gets METHOD_NOT_FOUND in its protocol's own form
 * (HTTP 404 where the protocol shows an HTTP status); anything else is a plain 404.
 */
export function answerNotFound(request: FastifyRequest, reply: FastifyReply): void {
  const [path = ""] = request.url.split("?");
  const rpc = /^(?:\/api)?\/([\w.]+)\/(\w+)$/.exec(path);
  if (rpc === null) {
    reply.code(404).type("text/plain").send("not found\n");
    return;
  }
  reply.hijack();
  const error = new InfraError("METHOD_NOT_FOUND", `there is no method ${rpc[1]}/${rpc[2]}`);
  refuse(request.raw, reply.raw, error, { ...reply.getHeaders(), [requestIdHeader]: randomUUID() }, 404);
}
