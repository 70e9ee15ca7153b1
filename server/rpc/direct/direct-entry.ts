import type { FastifyBaseLogger } from "fastify";
import type { AnswerHeaders, HttpRequest, HttpResponse } from "../http-exchange.ts";
import type { ListenerFacts } from "../listener-facts.ts";
import { refuse } from "../refusal.ts";
import type { Route } from "../router.ts";
import { serveRequest } from "../serve-request.ts";
import type { DirectHandler } from "./direct-handler.ts";

/** Answers a request if it can be answered before any routing. Returns whether it is. */
export type DirectEntry = (request: HttpRequest, response: HttpResponse, listener: ListenerFacts) => boolean;

/**
 * Takes the calls of programs at their methods' paths: what pages of other origins ask for is left to CORS, which Fastify
 * has, and so is whatever is unusual in a request.
 * @param headersOf those of every answer
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
    serving.catch((err) => log.error({ err }, "a request could not be refused"));
    return true;
  };
}
