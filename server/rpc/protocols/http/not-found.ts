import { randomUUID } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import type { ListenerFacts } from "../../call/listener-facts.ts";
import { requestIdHeader } from "../../call/request-facts.ts";
import { rpcReasons } from "../../reasons.ts";
import type { HttpRequest } from "./http-exchange.ts";
import { refuse } from "./refusal.ts";

/** Reports whether a request is gRPC over HTTP/1.1, whose trailers need HTTP/2. */
export function isGrpcOverHttp1({
  headers,
  httpVersion,
}: Pick<HttpRequest, "headers" | "httpVersion">): boolean {
  return httpVersion !== "2.0" && /^application\/grpc($|[+;])/.test(headers["content-type"] ?? "");
}

/** Refuses gRPC over HTTP/1.1 on any path. */
export async function refuseGrpcOverHttp1(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (isGrpcOverHttp1(request.raw)) {
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
  const error = new InfraError(rpcReasons.METHOD_NOT_FOUND, `unknown method ${rpc[1]}/${rpc[2]}`);
  const headers = { ...reply.getHeaders(), [requestIdHeader]: randomUUID() };
  refuse(request.raw, reply.raw, error, headers, { httpStatus: 404, errorDetails });
}
