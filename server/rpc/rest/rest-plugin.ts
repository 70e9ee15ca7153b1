import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ListenerFacts } from "../listener-facts.ts";
import { methodPathOf } from "../method-rule.ts";
import { leaveBodiesUnread, serve } from "../plugin.ts";
import type { ServedRoute } from "../router.ts";
import { matchPath } from "./match-path.ts";
import type { PathTemplate } from "./path-template.ts";
import { refuseRest } from "./rest-error.ts";
import { createRestHandler, type RestHandler, type RestHandlerOptions } from "./rest-handler.ts";
import type { RestRoute } from "./rest-routes.ts";

export interface RestPluginOptions extends RestHandlerOptions {
  readonly restRoutes: readonly RestRoute[];
  /** Those of their methods. */
  readonly routes: readonly ServedRoute[];
  readonly listenerOf: (request: FastifyRequest) => ListenerFacts;
}

/** A route with who answers it. */
interface Endpoint extends RestRoute {
  readonly handle: RestHandler;
}

/**
 * Serves REST routes on a Fastify instance. Below a folder that has such routes, and no page or RPC, a path that is none of
 * them gets a plain 404, and one that takes other verbs a plain 405. HEAD comes with GET, but not for streams.
 * @throws TypeError for a route by which GET would change something
 */
export async function restPlugin(app: FastifyInstance, options: RestPluginOptions): Promise<void> {
  const { restRoutes, routes, listenerOf } = options;
  leaveBodiesUnread(app);
  const servedByMethod = new Map(routes.map((route) => [route.handle.method, route]));
  const endpoints = restRoutes.map((route): Endpoint => {
    const served = servedByMethod.get(route.method);
    if (served === undefined) {
      throw new TypeError(`nobody answers ${methodPathOf(route.method)}`);
    }
    if (served.rule.mutation && route.httpMethod === "GET") {
      throw new TypeError(`${methodPathOf(route.method)} changes something, which GET must not`);
    }
    return { ...route, handle: createRestHandler(served, route, options) };
  });

  // OPTIONS belongs to CORS; HEAD comes with GET.
  const verbs = app.supportedMethods.filter((name) => name !== "OPTIONS" && name !== "HEAD");
  const isKnown = ({ httpMethod }: RestRoute) => httpMethod === "*" || verbs.includes(httpMethod);
  const unknown = restRoutes.find((route) => !isKnown(route));
  if (unknown !== undefined) {
    throw new TypeError(`${methodPathOf(unknown.method)}: there is no verb ${unknown.httpMethod}`);
  }

  function answer(request: FastifyRequest, reply: FastifyReply, folder: string): void | Promise<void> {
    if (/^application\/(?:grpc|connect\+)/.test(request.headers["content-type"] ?? "")) {
      reply.callNotFound();
      return undefined;
    }
    const [path = ""] = request.url.split("?");
    const found = endpoints.flatMap((endpoint) => {
      const variables = matchPath(endpoint.template, path);
      return variables === undefined ? [] : [{ endpoint, variables }];
    });
    const target = found.find(({ endpoint }) => takesVerb(endpoint, request.method));
    if (target !== undefined) {
      const { endpoint, variables } = target;
      const url = request.url;
      const handle: Parameters<typeof serve>[0]["handle"] = (universal) =>
        endpoint.handle(universal, { url, variables });
      return serve({ method: endpoint.method, handle, refuse: refuseRest }, request, reply, listenerOf);
    }
    if (found.length > 0) {
      const allowed = [...new Set(found.map(({ endpoint }) => endpoint.httpMethod))].toSorted().join(", ");
      reply.code(405).header("allow", allowed).type("text/plain").send(`this path takes ${allowed}\n`);
    } else if (folder === "" || folder === "/api") {
      // RPCs and pages are there as well.
      reply.callNotFound();
    } else {
      reply.code(404).type("text/plain").send("not found\n");
    }
    return undefined;
  }

  for (const folder of new Set(endpoints.map(({ template }) => folderOf(template)))) {
    for (const url of folder === "" ? ["/*"] : [folder, `${folder}/*`]) {
      app.route({ method: verbs, url, handler: (request, reply) => answer(request, reply, folder) });
    }
  }
}

function takesVerb({ httpMethod, method }: RestRoute, verb: string): boolean {
  const isHead = verb === "HEAD" && httpMethod === "GET" && method.methodKind === "unary";
  return httpMethod === "*" || httpMethod === verb || isHead;
}

/** Text that means nothing to Fastify's router. */
const plainText = /^[\w.~-]+$/;

/** What a path has before the first segment that is not plain text, or before its last: routes beside it have that in common. */
function folderOf({ segments }: PathTemplate): string {
  const texts = segments.map((segment) => (segment.kind === "literal" ? segment.text : ""));
  const count = texts.findIndex((text) => !plainText.test(text));
  return texts
    .slice(0, count < 0 ? -1 : count)
    .map((text) => `/${text}`)
    .join("");
}
