import type { FastifyBaseLogger } from "fastify";
import { InfraError } from "../../adapters/host/infra-error.ts";
import { hostReasons } from "../../adapters/host/reasons.ts";
import type { ListenerConfig } from "../config/gateway-keys.ts";
import type { LinkServerOptions } from "../fleet/agent/link-server.ts";
import { adminSocketOf, createAdminListener } from "../rpc/listener/admin-listener.ts";
import {
  type CertificateReload,
  createCertificateReload,
} from "../rpc/listener/certificates/certificate-reload.ts";
import { createConfiguredListener } from "../rpc/listener/configured-listener.ts";
import { explainListenFailure } from "../rpc/listener/explain-listen-failure.ts";
import type { Listener } from "../rpc/listener/listener.ts";
import { createRefusalLog } from "../rpc/listener/refusal-log.ts";
import { createRequestGate } from "../rpc/listener/request-gate.ts";
import { createUnknownCallers } from "../rpc/listener/unknown-callers/unknown-callers.ts";
import { awaitFirstVisit } from "../sandbox/first-visit.ts";
import type { App } from "./app.ts";
import type { OpenGatewayOptions } from "./gateway-options.ts";
import type { OpenFleet } from "./open-fleet.ts";

/** How often certificate files are checked for renewal. */
const certificateCheckMs = 60_000;

/** A listener with its configuration. */
export interface ConfiguredListener {
  readonly config: ListenerConfig;
  readonly listener: Listener;
}

/** The sockets of a gateway. Requests wait until `open` is called. */
export interface OpenListeners {
  /** In the order of the configuration. */
  readonly entries: readonly ConfiguredListener[];
  readonly adminSocket: string;
  readonly certificates: CertificateReload;
  /** Resolves with the first request that is not for the admin socket; only for the demo world. */
  readonly visited: Promise<void>;
  /** Answer requests that arrive in another way. */
  readonly handlers: LinkServerOptions;
  open(): void;
}

/**
 * Opens the admin socket, the configured listeners, and that for agents if the gateway is a hub. Closing refuses new calls, ends open ones with SHUTTING_DOWN, and cuts the
 * rest after the configured grace period.
 * @throws Error with the fix when an address cannot be used
 */
export async function openListeners(
  app: App,
  fleet: Pick<OpenFleet, "createListener">,
  options: OpenGatewayOptions,
  shutdown: AbortController,
  opened: AsyncDisposableStack,
): Promise<OpenListeners> {
  const { config, logger, data, world } = options;
  const requests = createRequestGate(app);
  const certificates = openCertificates(logger, opened);
  const { unknown, writeTimeoutMs } = config.limits;
  const logCut = createRefusalLog((cut) => logger.warn(cut, "request cut"));
  const unknownCallers = createUnknownCallers(unknown, writeTimeoutMs, logCut);
  opened.defer(() => unknownCallers.close());

  const listeners: Listener[] = [];
  opened.defer(async () => {
    shutdown.abort(new InfraError(hostReasons.SHUTTING_DOWN, "the gateway is stopping"));
    requests.open();
    await Promise.all(listeners.map((listener) => listener.close(config.shutdownGraceMs)));
  });
  async function listen(listener: Listener): Promise<Listener> {
    await listener.listen();
    listeners.push(listener);
    return listener;
  }

  const handlers = { onRequest: requests.handle, onStream: requests.handleStream };
  const { handlers: visitedHandlers, visited } = awaitFirstVisit(handlers);
  const adminSocket = options.adminSocket ?? adminSocketOf(data.directory);
  await listen(createAdminListener({ path: adminSocket, config, ...handlers }));
  const entries: ConfiguredListener[] = [];
  for (const entry of config.listen) {
    const listener = createConfiguredListener(entry, {
      config,
      certificates,
      logger,
      unknownCallers,
      ...(world === undefined ? handlers : visitedHandlers),
    });
    const listening = listen(listener).catch((error: unknown) => {
      throw explainListenFailure(error, entry.address);
    });
    entries.push({ config: entry, listener: await listening });
  }
  const agents = options.isForCommand === true ? undefined : await fleet.createListener(unknownCallers);
  if (agents !== undefined) {
    await listen(agents).catch((error: unknown) => {
      throw explainListenFailure(error, config.fleet.hub?.listen ?? "");
    });
  }
  return { entries, adminSocket, certificates, visited, handlers, open: () => requests.open() };
}

function openCertificates(logger: FastifyBaseLogger, opened: AsyncDisposableStack): CertificateReload {
  const certificates = createCertificateReload(certificateCheckMs, {
    onReloaded: (files) => logger.info({ files }, "certificate reloaded"),
    onRefused: (err) =>
      logger.error({ err }, "a certificate could not be reloaded; the old one stays in use"),
  });
  opened.defer(() => certificates.close());
  return certificates;
}
