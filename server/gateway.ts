import { setMaxListeners } from "node:events";
import type { FastifyBaseLogger } from "fastify";
import { InfraError } from "../adapters/host/infra-error.ts";
import { createApp } from "./app.ts";
import type { Config, ListenerConfig } from "./config/schema.ts";
import { unknownServicesOf } from "./method-table.ts";
import { createMetrics } from "./observability/metrics.ts";
import type { Tracing } from "./observability/tracing.ts";
import { createInlineRunner } from "./operations/run-inline.ts";
import { createCertificateReload } from "./rpc/listener/certificate-reload.ts";
import { createConfiguredListener } from "./rpc/listener/configured-listener.ts";
import type { Listener } from "./rpc/listener/listener.ts";
import type { NodeRequest } from "./rpc/node-adapter.ts";
import type { ListenerFacts } from "./rpc/plugin.ts";
import { createServices } from "./services.ts";
import { createRealSystems, createSandboxSystems } from "./systems.ts";

/** How soon a certificate that was renewed on disk is used. */
const certificateCheckMs = 60_000;

/** What a request that came by no listener may reach: nothing. */
const nowhere: ListenerFacts = {
  address: "",
  services: new Set(),
  access: "login",
  isTls: false,
  isLocal: false,
};

export interface GatewayOptions {
  readonly config: Config;
  readonly isSandbox: boolean;
  readonly version: string;
  readonly logger: FastifyBaseLogger;
  /** Of the environment; none of them is kept in the process longer than it is needed. */
  readonly secrets: {
    /** HOSTPLANE_KEY */
    readonly key?: string | undefined;
    /** HOSTPLANE_ADMIN_PASSWORD */
    readonly adminPassword?: string | undefined;
  };
  /** Path of the socket by which it is administered; absent: `admin.sock` in its data directory. */
  readonly adminSocket?: string;
  /** Called when the gateway cannot go on, and the process has to end. */
  readonly onFatal: (error: Error) => void;
}

export interface Gateway {
  /** Where it listens, as clients write it; port 0 of the configuration is the real one here. */
  readonly addresses: readonly string[];
  /** Reads the certificate files again. @throws Error when one cannot be read; the old ones stay then */
  reloadCertificates(): void;
  /**
   * Refuses new calls, ends open ones with SHUTTING_DOWN, cuts what is left after the configured grace, and
   * waits for mutations that have begun, however long they take.
   */
  close(): Promise<void>;
}

/**
 * Starts everything the configuration names: systems, services and listeners.
 * @throws Error when a listener's address cannot be had, or a certificate or the headers for traces not be read; nothing is left open then
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { config, isSandbox, logger } = options;
  const shutdown = new AbortController();
  // Every open call listens to it.
  setMaxListeners(0, shutdown.signal);
  const listenerOfRequest = new WeakMap<NodeRequest, ListenerFacts>();
  const entries: { readonly config: ListenerConfig; readonly listener: Listener }[] = [];

  const runner = createInlineRunner((mutation, step, err) =>
    logger.error(
      { err, mutation: mutation.kind, resource: mutation.resource, step: step.name },
      "undo failed",
    ),
  );
  const tracing = await tracingOf(options);
  const systems = isSandbox ? createSandboxSystems() : createRealSystems(config, logger);
  const { registrations, backends } = createServices({
    systems,
    runner,
    facts: {
      version: options.version,
      isSandbox,
      startedAtMs: Date.now(),
      listeners: () =>
        entries.map(({ config: { tls, services }, listener }) => ({
          address: listener.address(),
          tls: tls !== undefined,
          services: services ?? [],
        })),
    },
  });
  const metrics = createMetrics({ version: options.version, isSandbox, backends });
  const app = await createApp({
    registrations,
    backends,
    isSandbox,
    metrics,
    tracing,
    logger,
    corsOrigins: config.cors.origins,
    maxMessageBytes: config.limits.maxMessageBytes,
    maxDeadlineMs: config.limits.maxDeadlineMs,
    keepAliveMs: config.keepAliveMs,
    shutdownSignal: shutdown.signal,
    listenerOf: (request) => listenerOfRequest.get(request.raw) ?? nowhere,
  }).catch(async (error) => {
    await systems.close();
    metrics.close();
    await tracing?.close();
    throw error;
  });
  const certificates = createCertificateReload(certificateCheckMs, {
    onReloaded: (files) => logger.info({ files }, "certificate read again"),
    onRefused: (err) => logger.error({ err }, "a certificate stays as it is"),
  });

  async function close(): Promise<void> {
    shutdown.abort(new InfraError("SHUTTING_DOWN", "the gateway is stopping"));
    certificates.close();
    await Promise.all(entries.map(({ listener }) => listener.close(config.shutdownGraceMs)));
    await runner.drain();
    await systems.close();
    await app.close();
    metrics.close();
    await tracing?.close();
  }

  try {
    assertServicesExist(config.listen);
    for (const entry of config.listen) {
      const listener = createConfiguredListener(entry, {
        config,
        certificates,
        logger,
        onRequest(request, response, facts) {
          listenerOfRequest.set(request, facts);
          app.routing(request, response);
        },
      });
      await listener.listen();
      entries.push({ config: entry, listener });
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    addresses: entries.map(({ listener }) => listener.address()),
    reloadCertificates: () => certificates.reload(),
    close,
  };
}

/** The libraries of tracing are imported only where it is configured: they would make every start slower. */
async function tracingOf({
  config: { tracing },
  version,
  isSandbox,
  logger,
}: GatewayOptions): Promise<Tracing | undefined> {
  if (tracing === undefined) {
    return undefined;
  }
  const { startTracing } = await import("./observability/tracing.ts");
  const { endpoint } = tracing;
  const onExportFailed = (err: Error | undefined) =>
    logger.warn({ err, endpoint }, "traces cannot be sent; told again once they could");
  return startTracing({ ...tracing, version, isSandbox, onExportFailed });
}

function assertServicesExist(listeners: readonly ListenerConfig[]): void {
  const [unknown] = unknownServicesOf(listeners);
  if (unknown !== undefined) {
    throw new Error(unknown);
  }
}
