import { createServer } from "node:http";
import type { DescMethod } from "@bufbuild/protobuf";
import { cors as connectCors } from "@connectrpc/connect";
import cors from "@fastify/cors";
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
} from "fastify";
import type { InfraError } from "../adapters/host/infra-error.ts";
import type { Backend } from "./backend.ts";
import { methodRuleOf } from "./method-table.ts";
import type { Metrics } from "./observability/metrics.ts";
import { metricsPage } from "./observability/metrics-page.ts";
import type { Around } from "./rpc/call.ts";
import type { ListenerFacts } from "./rpc/listener-facts.ts";
import { answerNotFound, leaveBodiesUnread, refuseGrpcOverHttp1, rpcPlugin } from "./rpc/plugin.ts";
import { restPlugin } from "./rpc/rest/rest-plugin.ts";
import { restRoutes } from "./rpc/rest/rest-routes.ts";
import { createRoutes } from "./rpc/router.ts";
import type { ServiceRegistration } from "./rpc/service-handlers.ts";
import { createEventStreams } from "./rpc/sse/event-streams.ts";
import { apiDocs } from "./web/api-docs.ts";
import { dashboard } from "./web/dashboard.ts";
import { koorApp } from "./web/koor-app.ts";
import { addSecurityHeaders } from "./web/security-headers.ts";
import { statusPages } from "./web/status-pages.ts";
import { type StoreBackup, storeBackup } from "./web/store-backup.ts";

export interface AppOptions {
  readonly registrations: readonly ServiceRegistration[];
  readonly backends: readonly Backend[];
  /** That of `backends` which stands for the gateway's own store. */
  readonly storeBackend: Backend;
  /** Whether a change by the method can be planned; absent: none can. */
  readonly isPlannable?: (method: DescMethod) => boolean;
  readonly isSandbox: boolean;
  /** The gateway's own. */
  readonly version: string;
  /** What is around every call, and around the work of a unary one. */
  readonly chain: { readonly around: readonly Around[]; readonly aroundWork: Around };
  readonly metrics: Metrics;
  /** Says why whoever asks may not read the metrics; undefined when they may. */
  readonly mayReadMetrics: (request: FastifyRequest) => Promise<InfraError | undefined>;
  /** Writes a copy of the store, for who comes by the admin socket. */
  readonly backupStore: (file: string) => Promise<StoreBackup>;
  readonly logger: FastifyBaseLogger;
  readonly corsOrigins: readonly string[];
  readonly maxMessageBytes: number;
  readonly maxDeadlineMs: number;
  readonly keepAliveMs: number;
  readonly shutdownSignal: AbortSignal;
  readonly listenerOf: (request: FastifyRequest) => ListenerFacts;
}

/** Response headers of the gateway that a browser's script may read. */
const exposedHeaders = [
  "hostplane-backend",
  "hostplane-clamped",
  "hostplane-idempotent-replay",
  "hostplane-missing",
  "hostplane-operation",
  "hostplane-radar",
  "hostplane-request-id",
  "hostplane-snapshot-age",
  "hostplane-unknown-fields",
  "traceparent",
];

/** Request headers that a browser's script may send, beside those of the protocols. */
const allowedHeaders = ["authorization", "idempotency-key", "last-event-id", "traceparent", "tracestate"];

/**
 * The Fastify instance with everything registered. It does not listen: listeners hand it their requests
 * through `app.routing`, so that any number of addresses share one application.
 */
export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const app = fastify({
    loggerInstance: options.logger,
    logController: new LogController({ disableRequestLogging: true }),
    // A server that never listens; requests of HTTP/1.1 and HTTP/2 come in by `routing`.
    serverFactory: () => createServer(),
    routerOptions: { caseSensitive: true, maxParamLength: 256 },
  });
  if (options.isSandbox) {
    app.addHook("onRequest", async (_request, reply) => {
      reply.header("hostplane-backend", "sandbox");
    });
  }
  addSecurityHeaders(app, options.listenerOf);
  leaveBodiesUnread(app);
  app.addHook("onRequest", refuseGrpcOverHttp1);
  const rest = restRoutes(options.registrations);
  if (options.corsOrigins.length > 0) {
    await app.register(cors, {
      origin: [...options.corsOrigins],
      methods: [...new Set([...connectCors.allowedMethods, ...rest.map(({ httpMethod }) => httpMethod)])],
      allowedHeaders: [...connectCors.allowedHeaders, ...allowedHeaders],
      exposedHeaders: [...connectCors.exposedHeaders, ...exposedHeaders],
      maxAge: 7200,
    });
  }
  const routes = createRoutes({
    registrations: options.registrations,
    ruleOf: methodRuleOf,
    around: options.chain.around,
    aroundWork: options.chain.aroundWork,
    maxMessageBytes: options.maxMessageBytes,
    maxDeadlineMs: options.maxDeadlineMs,
    keepAliveMs: options.keepAliveMs,
    shutdownSignal: options.shutdownSignal,
  });
  await app.register(rpcPlugin, {
    routes,
    otherAnswers: createEventStreams(routes, options),
    listenerOf: options.listenerOf,
  });
  await app.register(restPlugin, { ...options, restRoutes: rest, routes });
  await app.register(statusPages, {
    backends: options.backends,
    store: options.storeBackend,
    shutdownSignal: options.shutdownSignal,
  });
  await app.register(apiDocs, { isPlannable: () => false, ...options, restRoutes: rest, routes });
  await app.register(koorApp, { version: options.version });
  await app.register(metricsPage, { metrics: options.metrics, mayRead: options.mayReadMetrics });
  await app.register(storeBackup, { listenerOf: options.listenerOf, backup: options.backupStore });
  await app.register(dashboard);
  app.setNotFoundHandler(answerNotFound);
  await app.ready();
  return app;
}
