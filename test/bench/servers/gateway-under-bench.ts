import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import { createAbsentBackend } from "../../../server/domain/backend.ts";
import { createAuth } from "../../../server/domains/auth/auth.ts";
import { firstAdminName } from "../../../server/domains/auth/first-admin.ts";
import { type AppOptions, createApp } from "../../../server/gateway/app.ts";
import { createCallChain } from "../../../server/gateway/call-chain.ts";
import { configSchema } from "../../../server/gateway/config/schema.ts";
import { knownServices } from "../../../server/gateway/method-rules.ts";
import { openData } from "../../../server/gateway/open-data.ts";
import { createMetrics } from "../../../server/observability/metrics.ts";
import { createOpenCalls } from "../../../server/rpc/call/open-calls.ts";
import type { ServiceRegistration } from "../../../server/rpc/call/service-handlers.ts";
import { createListener } from "../../../server/rpc/listener/listener.ts";
import { rpcReasons } from "../../../server/rpc/reasons.ts";
import type { Store } from "../../../server/store/store.ts";
import { ensureFirstAdmin } from "../../server/domains/auth/ensure-first-admin.ts";
import type { Target } from "../load/target.ts";

/** What the services of a gateway under test are built from. */
export interface GatewayParts {
  readonly store: Store;
  readonly maxMessageBytes: number;
  readonly onFailed: (error: unknown) => void;
  /** Resources that a service opens here are closed once no call is open. */
  readonly opened: AsyncDisposableStack;
}

export interface GatewayUnderBench {
  /** Includes a session token of the first admin. */
  readonly target: Target;
  readonly store: Store;
  close(): Promise<void>;
}

/**
 * Starts the gateway's own application, listener, call chain, logins, limits, metrics and store in this process, with the
 * services of a benchmark and no systems. The limits of a caller are enabled at their highest values.
 * @param ruleOf for services that the contract does not have
 */
export async function startGatewayUnderBench(
  services: (parts: GatewayParts) => Promise<readonly ServiceRegistration[]>,
  ruleOf?: AppOptions["ruleOf"],
): Promise<GatewayUnderBench> {
  // Resources are closed in reverse order.
  const opened = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), "hostplane-bench-"));
  opened.defer(() => rm(directory, { recursive: true }));
  const config = configSchema.parse({
    data: directory,
    listen: [{ address: "127.0.0.1:0" }],
    limits: {
      caller: { requestsPerSecond: 1_000_000, streams: 65_535, mutations: 65_535, cpuMsPerSecond: 1_000_000 },
      unknown: { cpuMsPerSecond: 1_000_000 },
    },
  });
  const { limits, keepAliveMs } = config;
  const logger = pino({ level: "warn" }, process.stderr);
  const onFailed = (error: unknown) => logger.error({ err: error }, "failed");
  const shutdown = new AbortController();
  setMaxListeners(0, shutdown.signal);

  const data = await openData({
    config,
    isSandbox: true,
    environmentKey: undefined,
    logger,
    onLost: onFailed,
  });
  const { store, masterKeys } = data;
  opened.defer(() => store.close());
  opened.defer(() => data.keyChanges.close());
  await ensureFirstAdmin({
    store,
    password: randomUUID(),
    keepPassword: async () => {},
    dropPassword: async () => {},
  });
  const auth = await createAuth({
    store,
    masterKeys,
    config: config.auth,
    serviceNames: knownServices,
    methods: [],
    accessOf: () => undefined,
    host: "host-1",
    onFailed: (_message, error) => onFailed(error),
  });
  opened.defer(() => auth.close());
  const { token } = await auth.beginSession(firstAdminName);
  const metrics = createMetrics({ version: "0.0.0-bench", isSandbox: true, backends: [] });
  opened.defer(() => metrics.close());
  const { maxMessageBytes } = limits;
  const registrations = await services({ store, maxMessageBytes, onFailed, opened });
  const chain = createCallChain({
    changeInterceptors: [],
    data,
    authenticate: auth.authenticate,
    accessOf: () => undefined,
    observe: { metrics: metrics.rpc },
    config,
    instance: { instanceId: randomUUID(), host: "host", isSandbox: true },
    logger,
  });
  opened.defer(() => chain.close());
  const app = await createApp({
    registrations,
    ...(ruleOf === undefined ? {} : { ruleOf }),
    backends: [],
    storeBackend: createAbsentBackend("system", "none", "off", [], "none"),
    isSandbox: true,
    version: "0.0.0-bench",
    chain,
    metrics,
    mayReadMetrics: async () => undefined,
    backupStore: () => Promise.reject(new InfraError(rpcReasons.NOT_BUILT, "none")),
    keyChanges: data.keyChanges,
    exportKeys: () => Promise.reject(new InfraError(rpcReasons.NOT_BUILT, "none")),
    logger,
    corsOrigins: [],
    maxMessageBytes,
    maxDeadlineMs: limits.maxDeadlineMs,
    keepAliveMs,
    shutdownSignal: shutdown.signal,
    openCalls: createOpenCalls(shutdown.signal),
  });
  opened.defer(() => app.close());
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
    maxConcurrentStreams: limits.maxConcurrentStreams,
    headerBytes: limits.headerBytes,
    keepAliveMs,
    onRequest: (request, response) => app.handle(request, response, listenerFacts),
    onStream: (exchange) => app.handleStream(exchange, listenerFacts),
  });
  await listener.listen();
  opened.defer(async () => {
    shutdown.abort(new InfraError(hostReasons.SHUTTING_DOWN, "the bench is over"));
    await listener.close(1_000);
  });
  return {
    target: { port: Number(listener.address().split(":").at(-1)), token },
    store,
    close: () => opened.disposeAsync(),
  };
}
