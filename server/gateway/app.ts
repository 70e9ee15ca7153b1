import { createServer } from "node:http";
import type { DescMethod, Registry } from "@bufbuild/protobuf";
import cors from "@fastify/cors";
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
  type onRequestHookHandler,
} from "fastify";
import type { InfraError } from "../../adapters/host/infra-error.ts";
import type { Backend } from "../domain/backend.ts";
import { createForwarder, type Forwarder, type ForwarderOptions } from "../fleet/forward/forwarder.ts";
import type { Metrics } from "../observability/metrics.ts";
import { metricsPage } from "../observability/metrics-page.ts";
import type { ListenerFacts } from "../rpc/call/listener-facts.ts";
import type { InterceptorsFor } from "../rpc/call/method-interceptors.ts";
import type { MethodRule } from "../rpc/call/method-rule.ts";
import type { OpenCalls } from "../rpc/call/open-calls.ts";
import { createRoutes, type Route } from "../rpc/call/router.ts";
import type { ServiceRegistration } from "../rpc/call/service-handlers.ts";
import { rpcPlugin } from "../rpc/protocols/connect-es/plugin.ts";
import type { CreateAccelerator } from "../rpc/protocols/http/accelerator.ts";
import { createCorsOptions } from "../rpc/protocols/http/cors-options.ts";
import type {
  AnswerHeaders,
  HttpRequest,
  HttpResponse,
  NodeRequest,
  NodeResponse,
} from "../rpc/protocols/http/http-exchange.ts";
import type { Http2Exchange } from "../rpc/protocols/http/http2-exchange.ts";
import { leaveBodiesUnread } from "../rpc/protocols/http/leave-bodies-unread.ts";
import { answerNotFound, isGrpcOverHttp1, refuseGrpcOverHttp1 } from "../rpc/protocols/http/not-found.ts";
import { restPlugin } from "../rpc/protocols/rest/plugin.ts";
import { restRoutes } from "../rpc/protocols/rest/routes.ts";
import { createEventStreams } from "../rpc/protocols/sse/event-streams.ts";
import { dashboard } from "../web/dashboard.ts";
import { apiDocs } from "../web/docs/api-docs.ts";
import { koorApp } from "../web/koor-app.ts";
import { type LoginLinkOptions, loginLink } from "../web/login-link.ts";
import { type ProviderLogoutOptions, providerLogout } from "../web/provider-logout.ts";
import { type RepositoryKeysOptions, repositoryKeys } from "../web/repository-keys.ts";
import { securityHeadersOf } from "../web/security-headers.ts";
import { statusPages } from "../web/status-pages.ts";
import { type StoreBackup, storeBackup } from "../web/store-backup.ts";
import { type StoreKeyOptions, storeKey } from "../web/store-key.ts";
import { accelerators } from "./accelerators.ts";
import { documentedReasons } from "./method-reasons.ts";
import { methodRuleOf } from "./method-rules.ts";

export interface AppOptions {
  readonly registrations: readonly ServiceRegistration[];
  /** Returns the rule of one of their methods. Default: `methodRuleOf`, which knows the services of the contract. */
  readonly ruleOf?: (method: DescMethod) => MethodRule;
  /** Types that a `google.protobuf.Any` may hold in JSON. Absent: none, as in the gateway's own contract. */
  readonly registry?: Registry;
  readonly backends: readonly Backend[];
  /** The entry of `backends` for the gateway's own store. */
  readonly storeBackend: Backend;
  /** Reports whether a change by the method can be planned. Absent: no method can. */
  readonly isPlannable?: (method: DescMethod) => boolean;
  readonly isSandbox: boolean;
  /** Version of the gateway. */
  readonly version: string;
  readonly chain: { readonly interceptorsFor: InterceptorsFor };
  /** Set on a hub: forwards calls to the hosts of its fleet. */
  readonly forwarding?: Pick<ForwarderOptions, "hosts" | "hub" | "interceptorsFor"> | undefined;
  readonly metrics: Metrics;
  /** Returns why the caller may not read the metrics; undefined when it may. */
  readonly mayReadMetrics: (
    request: FastifyRequest,
    listener: ListenerFacts,
  ) => Promise<InfraError | undefined>;
  /** Writes a copy of the store, for callers on the admin socket. */
  readonly backupStore: (file: string) => Promise<StoreBackup>;
  /** Changes the master key, for callers on the admin socket. */
  readonly keyChanges: StoreKeyOptions["keyChanges"];
  /** Exports the keys of backup repositories, for callers on the admin socket. */
  readonly exportKeys: RepositoryKeysOptions["exportKeys"];
  /** As LoginLinkOptions.redeem; absent: there are no links that log in. */
  readonly redeemLoginLink?: LoginLinkOptions["redeem"] | undefined;
  /** Ends the sessions that an identity provider's logout token names; absent: there are no providers. */
  readonly logOutByProvider?: ProviderLogoutOptions["logOut"] | undefined;
  readonly logger: FastifyBaseLogger;
  readonly corsOrigins: readonly string[];
  readonly maxMessageBytes: number;
  /** Largest message written, in bytes; `maxMessageBytes` if absent. The conformance suite limits only what is read. */
  readonly maxAnswerBytes?: number;
  readonly maxDeadlineMs: number;
  readonly keepAliveMs: number;
  /** Has every call in progress, and ends it when the gateway stops. */
  readonly openCalls: OpenCalls;
  /** Answer some calls instead of connect-es, the first of them that can. Absent: `accelerators`. */
  readonly accelerators?: readonly CreateAccelerator[];
  readonly shutdownSignal: AbortSignal;
}

/** The request handlers of the gateway. It does not listen itself; any number of listeners share it. */
export interface App {
  /** Answers a request. `listener` describes the listener that received it. */
  handle(request: NodeRequest, response: NodeResponse, listener: ListenerFacts): void;
  /** Answers an HTTP/2 stream if it needs nothing that Node's compatibility API adds. Returns whether it did. */
  handleStream(exchange: Http2Exchange, listener: ListenerFacts): boolean;
  /** Returns the route of a method, by its full name. */
  routeOf(methodPath: string): Route | undefined;
  close(): Promise<void>;
}

/** Facts for a request that came through no listener: it may reach nothing. */
const noListener: ListenerFacts = {
  address: "",
  services: new Set(),
  access: "login",
  isTls: false,
  isLocal: false,
  errorDetails: true,
  lvmd: "backups",
};

/** Creates the application with every route registered. */
export async function createApp(options: AppOptions): Promise<App> {
  const listenerOfRequest = new WeakMap<NodeRequest, ListenerFacts>();
  const listenerOf = (request: FastifyRequest) => listenerOfRequest.get(request.raw) ?? noListener;
  const headersOf = (listener: ListenerFacts) => ({
    ...securityHeadersOf(listener),
    ...(options.isSandbox ? { "hostplane-backend": "sandbox" } : {}),
  });
  const app = fastify({
    loggerInstance: options.logger,
    logController: new LogController({ disableRequestLogging: true }),
    // This server never listens; HTTP/1.1 and HTTP/2 requests enter through `routing`.
    serverFactory: () => createServer(),
    routerOptions: { caseSensitive: true, maxParamLength: 256 },
    // No route has a schema. Without these factories Fastify loads Ajv and its serializer at every start.
    schemaController: {
      compilersFactory: { buildValidator: assertNoSchema, buildSerializer: assertNoSchema },
    },
  });
  app.addHook("onRequest", (request, reply, done) => {
    reply.headers(headersOf(listenerOf(request)));
    done();
  });
  app.addHook("onSend", (request, reply, payload, done) => {
    (request.raw as NodeRequest).usage?.sendsPage(sizeOf(reply, payload));
    done();
  });
  leaveBodiesUnread(app);
  app.addHook("onRequest", refuseGrpcOverHttp1);
  const rest = restRoutes(options.registrations);
  if (options.corsOrigins.length > 0) {
    const restMethods = rest.map(({ httpMethod }) => httpMethod);
    await app.register(cors, createCorsOptions(options.corsOrigins, restMethods));
  }
  const routes = createRoutes({
    registrations: options.registrations,
    ruleOf: options.ruleOf ?? methodRuleOf,
    interceptorsFor: options.chain.interceptorsFor,
    maxMessageBytes: options.maxMessageBytes,
    maxDeadlineMs: options.maxDeadlineMs,
    keepAliveMs: options.keepAliveMs,
    openCalls: options.openCalls,
    ...(options.registry === undefined ? {} : { registry: options.registry }),
    ...(options.maxAnswerBytes === undefined ? {} : { maxAnswerBytes: options.maxAnswerBytes }),
  });
  const forwarder = createForwarderOf(options, routes, rest);
  if (forwarder !== undefined) {
    app.addHook("onRequest", forwardRequests(forwarder, listenerOf));
  }
  await app.register(rpcPlugin, {
    routes,
    alternatives: createEventStreams(routes, options.keepAliveMs),
    listenerOf,
  });
  await app.register(restPlugin, { listenerOf, restRoutes: rest, routes });
  const { backends, storeBackend: store, shutdownSignal } = options;
  await app.register(statusPages, { backends, store, shutdownSignal });
  await app.register(apiDocs, {
    isPlannable: () => false,
    ...options,
    listenerOf,
    reasons: documentedReasons,
    restRoutes: rest,
    routes,
  });
  await app.register(koorApp, { version: options.version });
  await app.register(metricsPage, {
    metrics: options.metrics,
    mayRead: (request) => options.mayReadMetrics(request, listenerOf(request)),
  });
  await app.register(storeBackup, { listenerOf, backup: options.backupStore });
  await app.register(storeKey, { listenerOf, keyChanges: options.keyChanges });
  await app.register(repositoryKeys, { listenerOf, exportKeys: options.exportKeys });
  await registerLoginPages(app, options, listenerOf);
  await app.register(dashboard);
  app.setNotFoundHandler((request, reply) => answerNotFound(request, reply, listenerOf(request)));
  await app.ready();
  const routeByPath = new Map(routes.map((route) => [route.path, route]));
  const hasCors = options.corsOrigins.length > 0;
  const accelerated = (options.accelerators ?? accelerators).map((createAccelerator) =>
    createAccelerator({ routes, headersOf, hasCors, log: options.logger }),
  );
  /** Forwards a request that needs nothing of Fastify. */
  function forwards(request: HttpRequest, response: HttpResponse, listener: ListenerFacts): boolean {
    const isPlain = !(hasCors && request.headers.origin !== undefined) && !isGrpcOverHttp1(request);
    const answer = isPlain ? forwarder?.find(request, listener) : undefined;
    answer?.(response, headersOf(listener));
    return answer !== undefined;
  }
  return {
    handle(request, response, listener) {
      if (forwards(request, response, listener)) {
        return;
      }
      for (const accelerate of accelerated) {
        if (accelerate(request, response, listener)) {
          return;
        }
      }
      listenerOfRequest.set(request, listener);
      app.routing(request, response);
    },
    handleStream: (exchange, listener) =>
      forwards(exchange, exchange, listener) ||
      accelerated.some((accelerate) => accelerate(exchange, exchange, listener)),
    routeOf: (methodPath) => routeByPath.get(`/${methodPath}`),
    close: () => app.close(),
  };
}

/** Serves the pages that begin and end sessions, of a sandbox and of a gateway with identity providers. */
async function registerLoginPages(
  app: FastifyInstance,
  { redeemLoginLink, logOutByProvider }: Pick<AppOptions, "redeemLoginLink" | "logOutByProvider">,
  listenerOf: LoginLinkOptions["listenerOf"],
): Promise<void> {
  if (redeemLoginLink !== undefined) {
    await app.register(loginLink, { listenerOf, redeem: redeemLoginLink });
  }
  if (logOutByProvider !== undefined) {
    await app.register(providerLogout, { listenerOf, logOut: logOutByProvider });
  }
}

/** Returns what forwards calls to the hosts of the fleet; undefined unless the gateway is a hub. */
function createForwarderOf(
  options: AppOptions,
  routes: readonly Route[],
  rest: ReturnType<typeof restRoutes>,
): Forwarder | undefined {
  const { forwarding, logger: log } = options;
  return forwarding && createForwarder({ ...forwarding, routes, restRoutes: rest, limits: options, log });
}

/** Creates the hook that takes requests to hosts out of Fastify. */
function forwardRequests(
  forwarder: Forwarder,
  listenerOf: (request: FastifyRequest) => ListenerFacts,
): onRequestHookHandler {
  return (request, reply, done) => {
    const answer = forwarder.find(request.raw, listenerOf(request));
    if (answer === undefined) {
      done();
      return;
    }
    reply.hijack();
    answer(reply.raw, reply.getHeaders() as AnswerHeaders);
  };
}

/** Returns the size of a page, in bytes. A file's size is in its headers. */
function sizeOf(reply: FastifyReply, payload: unknown): number {
  return payload instanceof Uint8Array || typeof payload === "string"
    ? payload.length
    : Number(reply.getHeader("content-length") ?? 0);
}

function assertNoSchema(): never {
  throw new TypeError("routes of the gateway have no schemas");
}
