import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { createApp } from "../../../server/app.ts";
import { createAbsentBackend } from "../../../server/backend.ts";
import { createCallChain } from "../../../server/call-chain.ts";
import { configSchema } from "../../../server/config/schema.ts";
import { createAuth } from "../../../server/domains/auth/auth.ts";
import { ensureFirstAdmin, firstAdminName } from "../../../server/domains/auth/first-admin.ts";
import { detailFromJson } from "../../../server/domains/events/event-messages.ts";
import { createEventService } from "../../../server/domains/events/service.ts";
import { createEvents } from "../../../server/events/events.ts";
import { knownServices } from "../../../server/method-table.ts";
import { createMetrics } from "../../../server/observability/metrics.ts";
import { openData } from "../../../server/open-data.ts";
import { createListener } from "../../../server/rpc/listener/listener.ts";
import { answerParent, cpuMs } from "../bench-process.ts";
import { eventUnderBench } from "./event-under-bench.ts";
import type { FanOutServer } from "./fan-out.ts";

/** The gateway's event log, its call path and its logins, without the systems: a store in which the bench can write events. */

const directory = await mkdtemp(join(tmpdir(), "hostplane-bench-"));
const config = configSchema.parse({
  data: directory,
  listen: [{ address: "127.0.0.1:0" }],
  limits: { caller: { requestsPerSecond: 10_000, streams: 10_000 } },
});
const { limits, keepAliveMs } = config;
const logger = pino({ level: "warn" }, process.stderr);
const onFailed = (error: unknown) => logger.error({ err: error }, "failed");
const shutdown = new AbortController();
setMaxListeners(0, shutdown.signal);

const data = await openData({ config, isSandbox: true, environmentKey: undefined, logger, onLost: onFailed });
const { store, masterKey } = data;
await ensureFirstAdmin({
  store,
  password: randomUUID(),
  keepPassword: async () => {},
  dropPassword: async () => {},
});
const auth = await createAuth({
  store,
  masterKey,
  config: config.auth,
  serviceNames: knownServices,
  onFailed: (_message, error) => onFailed(error),
});
const { token } = await auth.beginSession(firstAdminName);
const events = await createEvents({ store, keepMs: 3_600_000, onFailed });
const metrics = createMetrics({ version: "0.0.0-bench", isSandbox: true, backends: [] });
const chain = createCallChain({
  data,
  authenticate: auth.authenticate,
  observe: { metrics: metrics.rpc },
  config,
  instance: { instanceId: randomUUID(), host: "host", isSandbox: true },
  logger,
});
const app = await createApp({
  registrations: [
    createEventService({
      events,
      details: { volumes: detailFromJson },
      isSandbox: true,
      maxMessageBytes: limits.maxMessageBytes,
      log: { warn: () => {} },
    }),
  ],
  backends: [],
  storeBackend: createAbsentBackend("system", "none", "off", [], "none"),
  isSandbox: true,
  version: "0.0.0-bench",
  chain,
  metrics,
  mayReadMetrics: async () => undefined,
  backupStore: () => Promise.reject(new InfraError("NOT_BUILT", "none")),
  logger,
  corsOrigins: [],
  maxMessageBytes: limits.maxMessageBytes,
  maxDeadlineMs: limits.maxDeadlineMs,
  keepAliveMs,
  shutdownSignal: shutdown.signal,
  listenerOf: () => ({
    address: "127.0.0.1:0",
    services: undefined,
    access: "login",
    isTls: false,
    isLocal: true,
  }),
});
const listener = createListener({
  address: { kind: "tcp", host: "127.0.0.1", port: 0 },
  mode: 0o600,
  tls: undefined,
  maxConcurrentStreams: limits.maxConcurrentStreams,
  headerBytes: limits.headerBytes,
  keepAliveMs,
  onRequest: (request, response) => app.routing(request, response),
});
await listener.listen();

answerParent(
  {
    target: async () => ({ port: Number(listener.address().split(":").at(-1)), token }),
    publish: (count: number) => store.run("events.append", { events: [eventUnderBench(count)] }),
    cpuMs,
  } satisfies FanOutServer,
  async () => {
    shutdown.abort(new InfraError("SHUTTING_DOWN", "the bench is over"));
    await events.close();
    await listener.close(1_000);
    await app.close();
    await chain.close();
    await auth.close();
    metrics.close();
    await store.close();
    await rm(directory, { recursive: true });
  },
);
