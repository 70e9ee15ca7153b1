import type { FastifyBaseLogger } from "fastify";
import type { ListenerFacts } from "../../call/listener-facts.ts";
import type { Route } from "../../call/router.ts";
import type { AnswerHeaders, HttpRequest, HttpResponse } from "../http/http-exchange.ts";
import { refuse } from "../http/refusal.ts";
import { serveRequest } from "../http/serve-request.ts";
import type { DirectHandler } from "./direct-handler.ts";

/** Answers a request if that is possible before routing. Returns whether it does. */
export type DirectEntry = (request: HttpRequest, response: HttpResponse, listener: ListenerFacts) => boolean;

/**
 * Creates the entry for calls of programs at the paths of their methods. Fastify handles everything else: requests from pages of
 * other origins, which need its CORS plugin, and unusual requests.
 * @param headersOf returns the headers of every answer
 */
export function createDirectEntry(
  routes: readonly Route[],
  headersOf: (listener: ListenerFacts) => AnswerHeaders,
  log: FastifyBaseLogger,
): DirectEntry {
  const byPath = new Map<string | undefined, Route & { readonly direct: DirectHandler }>();
  for (const { direct, ...route } of routes) {
    if (direct !== undefined) {
      byPath.set(route.path, { ...route, direct });
      byPath.set(`/api${route.path}`, { ...route, direct });
    }
  }
  return (request, response, listener) => {
    const route = byPath.get(request.url);
    if (route === undefined || request.method !== "POST" || request.headers.origin !== undefined) {
      return false;
    }
    const { direct, handle } = route;
    const head = direct.readHead(request);
    if (head === undefined) {
      return false;
    }
    const arrived = { request, response, listener, headers: headersOf(listener), log };
    const serving = serveRequest(handle.method, refuse, arrived, (facts, headers) =>
      direct.answer(head, request, response, facts, headers),
    );
    serving.catch((err) => log.error({ err }, "a refusal could not be written"));
    return true;
  };
}
