import type { CreateAccelerator } from "../http/accelerator.ts";
import { refuse } from "../http/refusal.ts";
import { serveRequest } from "../http/serve-request.ts";
import { createDirectHandler, type DirectHandler } from "./handler.ts";
import { readRequestHead } from "./request.ts";

/**
 * Answers unary and server-streaming calls at the paths of their methods, with nothing between Node's HTTP server and the
 * interceptors. It saves the cost of each call in connect-es: six to ten chained generators, copies of the headers, and three
 * AbortControllers. The benches `grpc-echo`, `json-echo` and `grpc-stream` need it (docs/reference/benchmarks.md).
 */
export const createDirectAccelerator: CreateAccelerator = ({ routes, headersOf, hasCors, log }) => {
  const byPath = new Map<string | undefined, DirectHandler>();
  for (const route of routes) {
    const { methodKind } = route.method;
    if (methodKind === "unary" || methodKind === "server_streaming") {
      const handler = createDirectHandler(route);
      byPath.set(route.path, handler);
      byPath.set(`/api${route.path}`, handler);
    }
  }
  return (request, response, listener) => {
    const handler = byPath.get(request.url);
    const isUsual = request.method === "POST" && !(hasCors && request.headers.origin !== undefined);
    const head = handler === undefined || !isUsual ? undefined : readRequestHead(handler.method, request);
    if (handler === undefined || head === undefined) {
      return false;
    }
    const arrived = { request, response, listener, headers: headersOf(listener), log };
    const serving = serveRequest(handler.method, refuse, arrived, (facts, headers) =>
      handler.answer(head, request, response, facts, headers),
    );
    serving.catch((err) => log.error({ err }, "a refusal could not be written"));
    return true;
  };
};
