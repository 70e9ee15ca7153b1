import { randomUUID } from "node:crypto";
import type { DescMethod } from "@bufbuild/protobuf";
import { createContextValues } from "@connectrpc/connect";
import {
  createAsyncIterable,
  type UniversalHandlerFn,
  type UniversalServerRequest,
  type UniversalServerResponse,
} from "@connectrpc/connect/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { ListenerFacts } from "../../call/listener-facts.ts";
import { requestFactsKey, requestIdHeader } from "../../call/request-facts.ts";
import type { Route } from "../../call/router.ts";
import { requestTimeoutMs } from "../../listener/timeouts.ts";
import { universalRequestFrom, writeUniversalResponse } from "../connect-es/response.ts";
import type { DirectHandler } from "../direct/direct-handler.ts";
import type { RequestHead } from "../direct/request-head.ts";
import { compressions } from "../wire/compression.ts";
import { grpcWebTextType, grpcWebType, handleGrpcWebText, isGrpcWebText } from "../wire/grpc-web-text.ts";
import { limitBodyTime } from "./body-timeout.ts";
import { type AnswerHeaders, dropRest } from "./http-exchange.ts";
import { type BodyForm, oneMessageBody } from "./read-body.ts";
import { refuse } from "./refusal.ts";
import { type ArrivedRequest, serveRequest } from "./serve-request.ts";

export interface RpcPluginOptions {
  readonly routes: readonly Route[];
  /** Answers some requests of a method instead of its protocols: server-sent events. */
  readonly otherAnswers?: ReadonlyMap<DescMethod, OtherAnswer>;
  readonly listenerOf: (request: FastifyRequest) => ListenerFacts;
}

/**
 * Passes every body through unparsed. Fastify must not parse the bodies of RPCs, nor those of requests to unknown paths: its
 * errors have a form that no RPC client understands.
 */
export function leaveBodiesUnread(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
}

/**
 * Serves the routes on a Fastify instance, each at its path and under `/api`. Fastify neither reads nor parses RPC bodies, and
 * does not serialise answers; its onRequest and onResponse hooks do run. A verb that the method does not support gets HTTP 405.
 */
export async function rpcPlugin(app: FastifyInstance, options: RpcPluginOptions): Promise<void> {
  leaveBodiesUnread(app);
  // The CORS plugin answers preflights before they get here.
  const verbs = [...app.supportedMethods];
  // One route for all methods of a service. A route per verb and method would be thousands, and take a fifth of the start.
  for (const [service, methods] of methodsOfServices(options)) {
    const handler = (request: FastifyRequest, reply: FastifyReply) => {
      const served = methods.get((request.params as { readonly name: string }).name);
      if (served === undefined) {
        return reply.callNotFound();
      }
      if (!served.verbs.includes(request.method)) {
        const allowed = served.verbs.filter((name) => name !== "HEAD").join(", ");
        return request.method === "OPTIONS"
          ? reply.code(204).header("allow", `${allowed}, OPTIONS`).send()
          : sendRefusal(reply.header("allow", allowed), 405);
      }
      return served.answer(request, reply);
    };
    for (const url of [`/${service}/:name`, `/api/${service}/:name`]) {
      app.route({ method: verbs, url, handler });
    }
  }
}

/** A method as served at its path. */
interface ServedPath {
  readonly verbs: readonly string[];
  answer(request: FastifyRequest, reply: FastifyReply): unknown;
}

function methodsOfServices({
  routes,
  listenerOf,
  otherAnswers,
}: RpcPluginOptions): Map<string, Map<string, ServedPath>> {
  const services = new Map<string, Map<string, ServedPath>>();
  for (const { handle, direct, rule, readMaxBytes } of routes) {
    const { method } = handle;
    const served: Served = {
      method,
      readMaxBytes,
      handle: async (request) => withWords(method, request, await handle(request)),
      refuse,
    };
    const answer = (request: FastifyRequest, reply: FastifyReply) => {
      const head = direct?.readHead(request.raw);
      return direct === undefined || head === undefined
        ? serve(served, request, reply, listenerOf)
        : serveDirectly(direct, head, served, request, reply, listenerOf);
    };
    const other = otherAnswers?.get(method);
    const answerEither = (request: FastifyRequest, reply: FastifyReply) => {
      if (other?.isWanted(request) === true) {
        return serve(other, request, reply, listenerOf);
      }
      return other !== undefined && request.method === "GET"
        ? sendRefusal(reply, 406)
        : answer(request, reply);
    };
    const get = other?.byGet === true ? ["GET"] : rule.get ? ["GET", "HEAD"] : [];
    const methods = services.get(method.parent.typeName) ?? new Map<string, ServedPath>();
    methods.set(method.name, { verbs: [...get, "POST"], answer: answerEither });
    services.set(method.parent.typeName, methods);
  }
  return services;
}

/**
 * Texts for requests that no protocol's handler accepts, by HTTP status. They are sent as plain text: an error in Connect's form
 * needs a code, while clients of the protocols derive one from the status (the conformance suite expects `unknown`).
 */
const refusals: Readonly<Record<number, string>> = {
  405: "this RPC supports POST, and GET only if it has no side effects and returns no secrets (Connect GET; for streams, server-sent events)",
  406: "GET of this stream needs the header accept: text/event-stream (server-sent events)",
  505: "this RPC needs HTTP/2",
};

function describeUnsupported(
  { methodKind }: DescMethod,
  { method, url, header }: UniversalServerRequest,
): string {
  if (method === "GET") {
    const encoding = new URL(url).searchParams.get("encoding") ?? "";
    return `unsupported encoding "${encoding}" in the query (supported: json, proto)`;
  }
  const type = header.get("content-type");
  const supported =
    methodKind === "unary"
      ? ["application/json", "application/proto"]
      : [
          "application/connect+json",
          "application/connect+proto",
          ...(methodKind === "server_streaming"
            ? ["application/json with the header accept: text/event-stream"]
            : []),
        ];
  const all = [...supported, grpcWebType, grpcWebTextType, "application/grpc+proto"].join(", ");
  return `${type === null ? "no content type" : `unsupported content type "${type}"`} (supported: ${all})`;
}

function sendRefusal(reply: FastifyReply, status: number): FastifyReply {
  return reply.code(status).type("text/plain").send(`${refusals[status]}\n`);
}

/** Content types whose messages have envelopes. */
const envelopedTypes = /^application\/(?:grpc|connect\+)/i;

function bodyFormOf(contentType = ""): BodyForm {
  return isGrpcWebText(contentType) ? "text" : envelopedTypes.test(contentType) ? "enveloped" : "plain";
}

/** How one request is served by a method. */
export interface Served {
  readonly method: DescMethod;
  /** The largest message read, in bytes, after decompression. */
  readonly readMaxBytes: number;
  readonly handle: UniversalHandlerFn;
  /** Sends an error in the request's protocol if there is no call. */
  readonly refuse: typeof refuse;
}

/** Another way to answer a method at its own path, selected by request headers. */
export interface OtherAnswer extends Served {
  /** Whether GET may request it. */
  readonly byGet: boolean;
  isWanted(request: FastifyRequest): boolean;
}

/** Answers a request outside Fastify, with its own request id, if its listener serves the method. */
export async function serve(
  { method, readMaxBytes, handle, refuse }: Served,
  request: FastifyRequest,
  reply: FastifyReply,
  listenerOf: RpcPluginOptions["listenerOf"],
): Promise<void> {
  const { methodKind } = method;
  await serveRequest(method, refuse, arrivedFrom(request, reply, listenerOf), async (facts, headers) => {
    const form = bodyFormOf(request.headers["content-type"]);
    const values = createContextValues().set(requestFactsKey, { ...facts, isText: form === "text" });
    const universal = universalRequestFrom(request.raw, reply.raw, values);
    if (methodKind !== "unary" && methodKind !== "server_streaming") {
      const answer = await handle(universal);
      await writeUniversalResponse(answer, request.raw, reply.raw, headers, true);
      return;
    }
    limitBodyTime(request.raw, requestTimeoutMs);
    const called = { ...universal, body: oneMessageBody(request.raw, readMaxBytes, form) };
    const answer = await (form === "text" ? handleGrpcWebText(handle, called) : handle(called));
    // Only an error can be answered before the end of such a request. connect-go stops sending a request, short of its
    // content-length, once it sees response headers, and Node's HTTP/2 library then resets the stream.
    await dropRest(request.raw);
    await writeUniversalResponse(answer, request.raw, reply.raw, headers, methodKind !== "unary");
  });
}

/** Does the same without connect-es. */
function serveDirectly(
  direct: DirectHandler,
  head: RequestHead,
  { method, refuse }: Served,
  request: FastifyRequest,
  reply: FastifyReply,
  listenerOf: RpcPluginOptions["listenerOf"],
): Promise<void> {
  return serveRequest(method, refuse, arrivedFrom(request, reply, listenerOf), (facts, headers) =>
    direct.answer(head, request.raw, reply.raw, facts, headers),
  );
}

function arrivedFrom(
  request: FastifyRequest,
  reply: FastifyReply,
  listenerOf: RpcPluginOptions["listenerOf"],
): ArrivedRequest {
  reply.hijack();
  const headers = reply.getHeaders() as AnswerHeaders;
  const listener = listenerOf(request);
  return { request: request.raw, response: reply.raw, listener, headers, log: request.log };
}

function withWords(
  method: DescMethod,
  request: UniversalServerRequest,
  answer: UniversalServerResponse,
): UniversalServerResponse {
  const message = answer.status === 415 ? describeUnsupported(method, request) : refusals[answer.status];
  if (answer.body !== undefined || message === undefined) {
    return withAcceptedEncodings(request, answer);
  }
  const header = new Headers(answer.header);
  header.set("content-type", "text/plain");
  return { ...answer, header, body: createAsyncIterable([Buffer.from(`${message}\n`)]) };
}

/** Names the supported compressions in the answer to a request with an unsupported one. */
function withAcceptedEncodings(
  { header }: UniversalServerRequest,
  answer: UniversalServerResponse,
): UniversalServerResponse {
  const [, protocol] = /^application\/(grpc|connect\+)/i.exec(header.get("content-type") ?? "") ?? [];
  const prefix = protocol === undefined ? "" : protocol === "grpc" ? "grpc-" : "connect-";
  const encoding = header.get(protocol === "grpc" ? "grpc-encoding" : `${prefix}content-encoding`);
  const isKnown =
    encoding === null || encoding === "identity" || compressions.some(({ name }) => name === encoding);
  if (!isKnown) {
    answer.header?.set(`${prefix}accept-encoding`, compressions.map(({ name }) => name).join(","));
  }
  return answer;
}

/** Refuses gRPC over HTTP/1.1 on any path, because gRPC's trailers need HTTP/2. */
export async function refuseGrpcOverHttp1(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const type = request.headers["content-type"] ?? "";
  if (request.raw.httpVersion !== "2.0" && /^application\/grpc($|[+;])/.test(type)) {
    const text = "gRPC needs HTTP/2; over HTTP/1.1 use Connect or gRPC-Web\n";
    await reply.code(505).header("connection", "close").type("text/plain").send(text);
  }
}

/**
 * Answers requests without a route. A path in the form of an RPC's gets METHOD_NOT_FOUND in its protocol (HTTP 404 if the
 * protocol shows an HTTP status); anything else is a plain 404.
 */
export function answerNotFound(
  request: FastifyRequest,
  reply: FastifyReply,
  { errorDetails }: Pick<ListenerFacts, "errorDetails"> = { errorDetails: true },
): void {
  const [path = ""] = request.url.split("?");
  const rpc = /^(?:\/api)?\/([\w.]+)\/(\w+)$/.exec(path);
  if (rpc === null) {
    reply.code(404).type("text/plain").send("not found\n");
    return;
  }
  reply.hijack();
  const error = new InfraError("METHOD_NOT_FOUND", `unknown method ${rpc[1]}/${rpc[2]}`);
  const headers = { ...reply.getHeaders(), [requestIdHeader]: randomUUID() };
  refuse(request.raw, reply.raw, error, headers, { httpStatus: 404, errorDetails });
}
