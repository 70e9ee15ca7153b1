import type { FastifyReply } from "fastify";
import type { ListenerFacts } from "../rpc/call/listener-facts.ts";

/** So long that a browser that has used TLS once never uses cleartext again. */
const yearSeconds = 31_536_000;

/**
 * Returns the headers of every answer, pages and RPCs alike: no caching, no content sniffing, no embedding by other origins'
 * pages. Over TLS, HSTS makes browsers use only TLS. Listeners that only this host can reach do not send HSTS: it applies to
 * every port of a name, and other programs serve on `localhost` too.
 */
export function securityHeadersOf({ isTls, isLocal }: ListenerFacts): Record<string, string> {
  return {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    ...(isTls && !isLocal ? { "strict-transport-security": `max-age=${yearSeconds}` } : {}),
  };
}

/** Sets the further headers of a page for people: it runs no scripts, and no other page can embed or reach it. */
export function addPageHeaders(reply: FastifyReply): FastifyReply {
  return reply.headers({
    "content-security-policy":
      "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
  });
}

/**
 * Sets the further headers of the dashboard and of `/docs`: they only run scripts, show images and make calls of the gateway's own origin, and
 * no other page can embed or reach them.
 */
export function addDashboardHeaders(reply: FastifyReply): FastifyReply {
  return reply.headers({
    "content-security-policy":
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
  });
}
