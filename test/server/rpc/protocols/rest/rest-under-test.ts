import { createServer } from "node:http";
import type { DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel as Idempotency } from "@bufbuild/protobuf/wkt";
import fastify, { LogController } from "fastify";
import { pino } from "pino";
import type { Test } from "tap";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../../adapters/host/reasons.ts";
import type { Interceptor } from "../../../../../server/rpc/call/call.ts";
import type { MethodRule } from "../../../../../server/rpc/call/method-rule.ts";
import { createOpenCalls } from "../../../../../server/rpc/call/open-calls.ts";
import { createRoutes } from "../../../../../server/rpc/call/router.ts";
import type { AnyHandler, ServiceRegistration } from "../../../../../server/rpc/call/service-handlers.ts";
import { createCallLog } from "../../../../../server/rpc/interceptors/log.ts";
import { createListener } from "../../../../../server/rpc/listener/listener.ts";
import { rpcPlugin } from "../../../../../server/rpc/protocols/connect-es/plugin.ts";
import { answerNotFound } from "../../../../../server/rpc/protocols/http/not-found.ts";
import { restPlugin } from "../../../../../server/rpc/protocols/rest/plugin.ts";
import { restRoutes } from "../../../../../server/rpc/protocols/rest/routes.ts";
import { rpcReasons } from "../../../../../server/rpc/reasons.ts";
import { createLibrary } from "./library.ts";

function ruleOf({ idempotency }: DescMethod): MethodRule {
  return {
    domain: "library",
    role: "anyone",
    mutation: idempotency !== Idempotency.NO_SIDE_EFFECTS,
    get: true,
    cache: false,
    secrets: false,
    secretAnswer: false,
    ofEveryService: true,
    hostBound: false,
    fleetWide: false,
    repeatable: false,
  };
}

export interface RestUnderTest {
  readonly url: string;
  /** Every line of the log, as objects. */
  readonly log: readonly Record<string, unknown>[];
  /** Ends open calls as a stopping gateway does. */
  stop(): void;
}

/** Serves the routes of the library with the test's handlers, on a free loopback port. */
export async function startRestUnderTest(
  t: Pick<Test, "teardown">,
  handlers: Readonly<Record<string, AnyHandler>>,
  settings: {
    readonly service?: ReturnType<typeof createLibrary>;
    readonly interceptors?: readonly Interceptor[];
    readonly workInterceptor?: Interceptor;
    readonly maxMessageBytes?: number;
    readonly maxDeadlineMs?: number;
  } = {},
): Promise<RestUnderTest> {
  const log: Record<string, unknown>[] = [];
  const logger = pino({ level: "debug" }, { write: (line: string) => log.push(JSON.parse(line)) });
  const shutdown = new AbortController();
  const app = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    serverFactory: () => createServer(),
    routerOptions: { caseSensitive: true, maxParamLength: 256 },
  });
  const notBuilt: AnyHandler = () =>
    Promise.reject(new InfraError(rpcReasons.NOT_BUILT, "the test has no handler"));
  const registration: ServiceRegistration = {
    service: settings.service ?? createLibrary(),
    handlerOf: ({ name }) => handlers[name] ?? notBuilt,
  };
  const options = {
    registrations: [registration],
    ruleOf,
    interceptorsFor: () => ({
      interceptors: [createCallLog(logger), ...(settings.interceptors ?? [])],
      workInterceptors: settings.workInterceptor === undefined ? [] : [settings.workInterceptor],
    }),
    maxMessageBytes: settings.maxMessageBytes ?? 1 << 20,
    maxDeadlineMs: settings.maxDeadlineMs ?? 60_000,
    keepAliveMs: 15_000,
    openCalls: createOpenCalls(shutdown.signal),
    listenerOf: () => ({
      address: "127.0.0.1:0",
      services: undefined,
      access: "login" as const,
      isTls: false,
      isLocal: true,
      errorDetails: true,
      lvmd: "backups" as const,
    }),
  };
  const routes = createRoutes(options);
  await app.register(rpcPlugin, { ...options, routes });
  await app.register(restPlugin, { ...options, routes, restRoutes: restRoutes(options.registrations) });
  app.setNotFoundHandler(answerNotFound);
  await app.ready();
  const listener = createListener({
    address: { kind: "tcp", host: "127.0.0.1", port: 0 },
    mode: 0o600,
    tls: undefined,
    maxConcurrentStreams: 128,
    headerBytes: 16_384,
    keepAliveMs: 15_000,
    onRequest: (request, response) => app.routing(request, response),
  });
  await listener.listen();
  const stop = () => shutdown.abort(new InfraError(hostReasons.SHUTTING_DOWN, "the gateway is stopping"));
  t.teardown(async () => {
    stop();
    await listener.close(1_500);
    await app.close();
  });
  return { url: `http://${listener.address()}`, log, stop };
}
