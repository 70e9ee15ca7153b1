import type { FastifyBaseLogger } from "fastify";
import type { ListenerFacts } from "../../call/listener-facts.ts";
import type { Route } from "../../call/router.ts";
import type { AnswerHeaders, HttpRequest, HttpResponse } from "./http-exchange.ts";

/**
 * Answers some requests before Fastify routes them, with the same bytes at a lower cost. Returns whether it answers this one.
 * Fastify and connect-es can answer all of them.
 */
export type Accelerator = (request: HttpRequest, response: HttpResponse, listener: ListenerFacts) => boolean;

export interface AcceleratorOptions {
  readonly routes: readonly Route[];
  /** Returns the headers of every answer. */
  readonly headersOf: (listener: ListenerFacts) => AnswerHeaders;
  /** Whether answers to pages of other origins need headers of their own (CORS), which only Fastify's plugin adds. */
  readonly hasCors: boolean;
  readonly log: FastifyBaseLogger;
}

export type CreateAccelerator = (options: AcceleratorOptions) => Accelerator;
