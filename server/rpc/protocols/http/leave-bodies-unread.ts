import type { FastifyInstance } from "fastify";

/**
 * Passes every body through unparsed. Fastify must not parse the bodies of RPCs, nor those of requests to unknown paths: its
 * errors have a form that no RPC client understands.
 */
export function leaveBodiesUnread(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
}
