import { setMaxListeners } from "node:events";
import { pino } from "pino";
import type { Test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import { createAbsentBackend } from "../../../server/domain/backend.ts";
import { type App, type AppOptions, createApp } from "../../../server/gateway/app.ts";
import { createMetrics } from "../../../server/observability/metrics.ts";
import { createRpcObserver } from "../../../server/observability/rpc-observer.ts";
import { createOpenCalls } from "../../../server/rpc/call/open-calls.ts";
import type { ServiceRegistration } from "../../../server/rpc/call/service-handlers.ts";
import { assertKnownHeaders } from "../../../server/rpc/interceptors/known-headers.ts";
import { createCallLog } from "../../../server/rpc/interceptors/log.ts";
import { createListener } from "../../../server/rpc/listener/listener.ts";
import { rpcReasons } from "../../../server/rpc/reasons.ts";

/** Tests of calls also run without accelerators: with `RPC_PATH=connect-es`, connect-es answers all of them. */
export const acceleratorsUnderTest: Pick<AppOptions, "accelerators"> =
  process.env.RPC_PATH === "connect-es" ? { accelerators: [] } : {};

export interface AppUnderTest {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  /** Every line of the log, as objects. */
  readonly log: readonly Record<string, unknown>[];
  /** Returns how many calls would be ended by the gateway's stop. */
  openCallCount(): number;
  readonly routeOf: App["routeOf"];
  /** Ends open calls as a stopping gateway does, and then the connections. */
  close(): Promise<void>;
}

/**
 * Starts the application behind one listener with the test's own services, for tests that need slower ones than the sandbox's. It
 * is closed with the test.
 */
export async function startAppUnderTest(
  t: Pick<Test, "teardown">,
  registrations: readonly ServiceRegistration[],
  settings: {
    readonly maxDeadlineMs?: number;
    readonly maxMessageBytes?: number;
    readonly keepAliveMs?: number;
    readonly logLevel?: string;
  } = {},
): Promise<AppUnderTest> {
  const shutdown = new AbortController();
  setMaxListeners(0, shutdown.signal);
  const openCalls = createOpenCalls(shutdown.signal);
  const log: Record<string, unknown>[] = [];
  const metrics = createMetrics({ version: "0.0.0-test", isSandbox: false, backends: [] });
  const logger = pino(
    { level: settings.logLevel ?? "debug" },
    { write: (line: string) => log.push(JSON.parse(line)) },
  );
  const app = await createApp({
    registrations,
    backends: [],
    storeBackend: createAbsentBackend("system", "none", "off", [], "there is no store"),
    isSandbox: false,
    version: "0.0.0-test",
    chain: {
      interceptorsFor: () => ({
        interceptors: [
          createRpcObserver({ metrics: metrics.rpc }),
          createCallLog(logger),
          assertKnownHeaders,
        ],
        workInterceptors: [],
      }),
    },
    metrics,
    mayReadMetrics: async () => undefined,
    backupStore: () => Promise.reject(new InfraError(rpcReasons.NOT_BUILT, "there is no store")),
    keyChanges: {
      status: () => Promise.reject(new InfraError(rpcReasons.NOT_BUILT, "there is no store")),
      change: () => Promise.reject(new InfraError(rpcReasons.NOT_BUILT, "there is no store")),
    },
    exportKeys: () => Promise.reject(new InfraError(rpcReasons.NOT_BUILT, "there is no store")),
    logger,
    corsOrigins: [],
    maxMessageBytes: settings.maxMessageBytes ?? 4 << 20,
    maxDeadlineMs: settings.maxDeadlineMs ?? 60_000,
    keepAliveMs: settings.keepAliveMs ?? 15_000,
    shutdownSignal: shutdown.signal,
    openCalls,
    ...acceleratorsUnderTest,
  });
  const listenerFacts = {
    address: "127.0.0.1:0",
    services: undefined,
    access: "login",
    isTls: false,
    isLocal: true,
    errorDetails: true,
    lvmd: "backups",
  } as const;
  const listener = createListener({
    address: { kind: "tcp", host: "127.0.0.1", port: 0 },
    mode: 0o600,
    tls: undefined,
    maxConcurrentStreams: 128,
    headerBytes: 16_384,
    keepAliveMs: 15_000,
    onRequest: (request, response) => app.handle(request, response, listenerFacts),
    onStream: (exchange) => app.handleStream(exchange, listenerFacts),
  });
  await listener.listen();
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= (async () => {
      shutdown.abort(new InfraError(hostReasons.SHUTTING_DOWN, "the gateway is stopping"));
      await listener.close(1_500);
      await app.close();
      metrics.close();
    })();
    return closed;
  };
  t.teardown(close);
  return {
    url: `http://${listener.address()}`,
    log,
    openCallCount: openCalls.count,
    routeOf: app.routeOf,
    close,
  };
}
