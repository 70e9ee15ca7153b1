import type { FastifyReply } from "fastify";
import type { ListenerFacts } from "../rpc/listener-facts.ts";

/** Long enough that a browser which has once come by TLS comes by nothing else again. */
const yearSeconds = 31_536_000;

/**
 * The headers of every answer, of pages and RPCs alike: nothing is kept by caches, taken for another content type, or
 * embedded by other origins' pages. Over TLS browsers are told to come by TLS only (HSTS), unless the listener is for this
 * host alone: that holds for every port of a name, and at `localhost` other programs serve too.
 */
export function securityHeadersOf({ isTls, isLocal }: ListenerFacts): Record<string, string> {
  return {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    ...(isTls && !isLocal ? { "strict-transport-security": `max-age=${yearSeconds}` } : {}),
  };
}

/** Sets the further headers of a page that people see: it runs no script, and no other page can hold or reach it. */
export function addPageHeaders(reply: FastifyReply): FastifyReply {
  return reply.headers({
    "content-security-policy":
      "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
  });
}

/**
 * Sets the further headers of the dashboard: it runs the scripts and shows the pictures that the gateway itself sends, calls
 * the gateway alone, and no other page can hold or reach it.
 */
export function addDashboardHeaders(reply: FastifyReply): FastifyReply {
  return reply.headers({
    "content-security-policy":
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
  });
}
