import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ListenerFacts } from "../../call/listener-facts.ts";
import { methodPathOf } from "../../call/method-rule.ts";
import type { Route } from "../../call/router.ts";
import { leaveBodiesUnread } from "../http/leave-bodies-unread.ts";
import { type Served, serve } from "../http/serve.ts";
import { refuseRest } from "./error.ts";
import { createRestHandler, type RestHandler } from "./handler.ts";
import { matchPath } from "./match-path.ts";
import type { PathTemplate } from "./path-template.ts";
import type { RestRoute } from "./routes.ts";

export interface RestPluginOptions {
  readonly restRoutes: readonly RestRoute[];
  /** The routes of their methods. */
  readonly routes: readonly Route[];
  readonly listenerOf: (request: FastifyRequest) => ListenerFacts;
}

/** A route with its handler. */
interface Endpoint extends RestRoute {
  readonly readMaxBytes: number;
  readonly verbs: ReadonlySet<string>;
  readonly handle: RestHandler;
}

/**
 * Serves REST routes on a Fastify instance. Under a folder that only has such routes, an unknown path gets a plain 404, and an
 * unsupported verb a plain 405. GET includes HEAD, except for streams.
 * @throws TypeError for a route where GET would change something, or with a verb that Fastify does not support
 */
export async function restPlugin(app: FastifyInstance, options: RestPluginOptions): Promise<void> {
  const { restRoutes, routes, listenerOf } = options;
  leaveBodiesUnread(app);
  // The CORS plugin answers preflights before they get here; GET includes HEAD.
  const allVerbs = app.supportedMethods.filter((name) => name !== "OPTIONS" && name !== "HEAD");
  const servedByMethod = new Map(routes.map((route) => [route.method, route]));
  const endpoints = restRoutes.map((route): Endpoint => {
    const served = servedByMethod.get(route.method);
    if (served === undefined) {
      throw new TypeError(`no handler for ${methodPathOf(route.method)}`);
    }
    return {
      ...route,
      readMaxBytes: served.readMaxBytes,
      verbs: verbsOf(route, served, allVerbs),
      handle: createRestHandler(served, route),
    };
  });

  async function answer(request: FastifyRequest, reply: FastifyReply, folder: string): Promise<unknown> {
    if (/^application\/(?:grpc|connect\+)/.test(request.headers["content-type"] ?? "")) {
      return reply.callNotFound();
    }
    const { url } = request;
    const [path = ""] = url.split("?");
    const found = endpoints.flatMap((endpoint) => {
      const variables = matchPath(endpoint.template, path);
      return variables === undefined ? [] : [{ endpoint, variables }];
    });
    const target = found.find(({ endpoint }) => takesVerb(endpoint, request.method));
    if (target !== undefined) {
      const { method, readMaxBytes, handle } = target.endpoint;
      const served: Served = {
        method,
        readMaxBytes,
        handle: (universal, facts) => handle(universal, facts, { url, variables: target.variables }),
        refuse: refuseRest,
      };
      return serve(served, request, reply, listenerOf(request));
    }
    if (found.length > 0) {
      const verbs = new Set(found.flatMap(({ endpoint }) => [...endpoint.verbs]));
      const allowed = [...verbs].toSorted().join(", ");
      if (request.method === "OPTIONS") {
        return reply.code(204).header("allow", `${allowed}, OPTIONS`).send();
      }
      return reply
        .code(405)
        .header("allow", allowed)
        .type("text/plain")
        .send(`this path supports ${allowed}\n`);
    }
    // These folders also have RPCs and pages.
    const isShared = folder === "" || folder === "/api";
    return isShared ? reply.callNotFound() : reply.code(404).type("text/plain").send("not found\n");
  }

  for (const folder of new Set(endpoints.map(({ template }) => folderOf(template)))) {
    for (const url of folder === "" ? ["/*"] : [folder, `${folder}/*`]) {
      app.route({
        method: [...allVerbs, "OPTIONS"],
        url,
        handler: (request, reply) => answer(request, reply, folder),
      });
    }
  }
}

function verbsOf(
  { method, httpMethod }: RestRoute,
  { rule }: Route,
  allVerbs: readonly string[],
): ReadonlySet<string> {
  if (httpMethod === "*") {
    return new Set(allVerbs.filter((verb) => verb !== "GET" || !rule.mutation));
  }
  if (rule.mutation && httpMethod === "GET") {
    throw new TypeError(`${methodPathOf(method)} changes something, so it cannot be called by GET`);
  }
  if (!allVerbs.includes(httpMethod)) {
    throw new TypeError(`${methodPathOf(method)}: unknown HTTP method ${httpMethod}`);
  }
  return new Set([httpMethod]);
}

function takesVerb({ verbs, method }: Endpoint, verb: string): boolean {
  return verbs.has(verb === "HEAD" && method.methodKind === "unary" ? "GET" : verb);
}

/** Text without special meaning for Fastify's router. */
const plainText = /^[\w.~-]+$/;

/**
 * Returns the path up to the first segment that is not plain text, or up to its last segment. Related routes share this prefix.
 */
function folderOf({ segments }: PathTemplate): string {
  const texts = segments.map((segment) => (segment.kind === "literal" ? segment.text : ""));
  const count = texts.findIndex((text) => !plainText.test(text));
  return texts
    .slice(0, count < 0 ? -1 : count)
    .map((text) => `/${text}`)
    .join("");
}
