import type { DescMethod } from "@bufbuild/protobuf";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ListenerFacts } from "../../call/listener-facts.ts";
import type { Route } from "../../call/router.ts";
import { leaveBodiesUnread } from "../http/leave-bodies-unread.ts";
import { refusalTexts, refuse } from "../http/refusal.ts";
import { type Alternative, type Served, serve } from "../http/serve.ts";
import { createConnectEsHandler } from "./handler.ts";

export interface RpcPluginOptions {
  readonly routes: readonly Route[];
  /** Answers some requests of a method instead of connect-es: server-sent events. */
  readonly alternatives?: ReadonlyMap<DescMethod, Alternative>;
  readonly listenerOf: (request: FastifyRequest) => ListenerFacts;
}

/**
 * Serves the routes on a Fastify instance, each at its path and under `/api`. Fastify neither reads nor parses RPC bodies, and
 * does not serialise answers; its onRequest and onResponse hooks do run. A verb that the method does not support gets HTTP 405.
 */
export async function rpcPlugin(app: FastifyInstance, options: RpcPluginOptions): Promise<void> {
  leaveBodiesUnread(app);
  // The CORS plugin answers preflights before they get here.
  const verbs = [...app.supportedMethods];
  // One route for all methods of a service. A route per verb and method would be thousands, and take a fifth of the start.
  for (const [service, methods] of methodsOfServices(options)) {
    const handler = (request: FastifyRequest, reply: FastifyReply) => {
      const served = methods.get((request.params as { readonly name: string }).name);
      if (served === undefined) {
        return reply.callNotFound();
      }
      if (!served.verbs.includes(request.method)) {
        const allowed = served.verbs.filter((name) => name !== "HEAD").join(", ");
        return request.method === "OPTIONS"
          ? reply.code(204).header("allow", `${allowed}, OPTIONS`).send()
          : sendRefusal(reply.header("allow", allowed), 405);
      }
      return served.answer(request, reply);
    };
    for (const url of [`/${service}/:name`, `/api/${service}/:name`]) {
      app.route({ method: verbs, url, handler });
    }
  }
}

/** A method as served at its path. */
interface ServedPath {
  readonly verbs: readonly string[];
  answer(request: FastifyRequest, reply: FastifyReply): unknown;
}

function methodsOfServices({
  routes,
  listenerOf,
  alternatives,
}: RpcPluginOptions): Map<string, Map<string, ServedPath>> {
  const services = new Map<string, Map<string, ServedPath>>();
  for (const route of routes) {
    const { method, rule, readMaxBytes } = route;
    const served: Served = { method, readMaxBytes, handle: createConnectEsHandler(route), refuse };
    const other = alternatives?.get(method);
    const answer = (request: FastifyRequest, reply: FastifyReply) => {
      if (other?.accepts(request) === true) {
        return serve(other, request, reply, listenerOf(request));
      }
      return other !== undefined && request.method === "GET"
        ? sendRefusal(reply, 406)
        : serve(served, request, reply, listenerOf(request));
    };
    const get = other?.byGet === true ? ["GET"] : rule.get ? ["GET", "HEAD"] : [];
    const methods = services.get(method.parent.typeName) ?? new Map<string, ServedPath>();
    methods.set(method.name, { verbs: [...get, "POST"], answer });
    services.set(method.parent.typeName, methods);
  }
  return services;
}

function sendRefusal(reply: FastifyReply, status: number): FastifyReply {
  return reply.code(status).type("text/plain").send(`${refusalTexts[status]}\n`);
}
