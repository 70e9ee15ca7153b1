import { setMaxListeners } from "node:events";
import { rm } from "node:fs/promises";
import type { Duplex } from "node:stream";
import { setToolOwner } from "../../adapters/host/process/tool-mark.ts";
import { adminPasswordFile, writeAdminPassword } from "../domains/auth/admin-password-file.ts";
import { createAuth } from "../domains/auth/auth.ts";
import { type FirstAdmin, firstAdminName, prepareFirstAdmin } from "../domains/auth/first-admin.ts";
import { createLoginLinks } from "../domains/auth/sessions/login-links.ts";
import { createAuthenticateHub } from "../fleet/agent/authenticate-hub.ts";
import { createCeiling } from "../fleet/agent/ceiling.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { Tracing } from "../observability/tracing.ts";
import type { OperationsLog } from "../operations/operations-options.ts";
import { shortSocketPath } from "../rpc/listener/admin-listener.ts";
import { startScheduledBackups } from "../store/scheduled-backups.ts";
import { loginLinkPath } from "../web/login-link.ts";
import { type Readiness, readReadiness } from "../web/readiness.ts";
import type { App } from "./app.ts";
import { type Engine, openEngine } from "./engine.ts";
import type { GatewayOptions, OpenGatewayOptions } from "./gateway-options.ts";
import { hostNameOf } from "./host-name.ts";
import { knownMethods, knownServices } from "./method-rules.ts";
import { openApp } from "./open-app.ts";
import { openFleet } from "./open-fleet.ts";
import { type ConfiguredListener, type OpenListeners, openListeners } from "./open-listeners.ts";
import { serveDomains } from "./serve-domains.ts";
import type { Services } from "./services.ts";
import type { Systems } from "./systems.ts";

export interface Gateway {
  /** The addresses it listens on, as clients write them. A configured port 0 is replaced by the real one. */
  readonly addresses: readonly string[];
  /** The user created at this start, which is the first one in its store. */
  readonly firstAdmin: FirstAdmin | undefined;
  /**
   * Returns a token of the first admin, for the user who starts a sandbox; undefined for a real gateway, or if that user was
   * removed.
   */
  sandboxToken(): Promise<string | undefined>;
  /** Returns the path of a new link that logs the first admin in once; undefined as for `sandboxToken`. */
  sandboxLoginPath(): Promise<string | undefined>;
  /** Reads whether it accepts requests, as /readyz reports it. */
  readiness(): Promise<Readiness>;
  /** Serves the hub at the other end of a connection, whose address is for people. Members open such connections by themselves. */
  serveHub(connection: Duplex, hubAddress: string): void;
  /** Reads the certificate files again. @throws Error when one cannot be read; the old ones stay in use then */
  reloadCertificates(): void;
  /**
   * Refuses new calls and ends open ones with SHUTTING_DOWN. Cuts the remaining ones after the configured grace period, and waits
   * for started mutations, however long they take.
   */
  close(): Promise<void>;
}

/**
 * Starts everything the configuration names, on top of the opened data: users, systems, services and listeners. Whatever has to
 * be closed later is pushed on `opened`, even when the start fails.
 * @throws Error with the fix when one of them cannot be started
 */
export async function openGateway(
  options: OpenGatewayOptions,
  opened: AsyncDisposableStack,
): Promise<Gateway> {
  const { isSandbox, data } = options;
  const shutdown = new AbortController();
  // Every open call listens to it.
  setMaxListeners(0, shutdown.signal);
  const preparing = prepareAdmin(options);
  setToolOwner(data.keyChanges.storeId);
  const tracing = await tracingOf(options);
  opened.defer(() => tracing?.close());
  const systems = await options.createSystems();
  opened.defer(() => systems.close());
  let served: Services | undefined;
  let joined: Fleet | undefined;
  const auth = await openAuth(options, { services: () => served, fleet: () => joined });
  opened.defer(() => auth.close());
  const engine = await openEngine(options, shutdown.signal, opened);
  if (isSandbox) {
    await removeStaleRecords(options, engine, systems);
  }

  let app: App | undefined;
  let listeners: OpenListeners | undefined;
  const fleet = await openFleet({ ...options, ...engine, handlers: handlersOnceOpen(() => listeners) });
  joined = fleet;
  opened.defer(() => fleet.close());
  const { services, metrics } = await serveDomains(
    {
      options,
      systems,
      auth,
      engine,
      fleet,
      routeOf: (methodPath) => app?.routeOf(methodPath),
      listeners: () => (listeners?.entries ?? []).map(factsOfListener),
    },
    opened,
  );
  served = services;
  const loginLinks = createLoginLinks(auth.beginSession);
  const shutdownSignal = shutdown.signal;
  const fleetHosts = fleet.hosts;
  app = await openApp(
    { options, auth, loginLinks, engine, services, metrics, tracing, fleetHosts, shutdownSignal },
    opened,
  );
  const open = await openListeners(app, fleet, options, shutdown, opened);
  listeners = open;
  if (options.isForCommand !== true) {
    fleet.begin();
    beginWork(engine, services, options, shutdownSignal, opened);
  }
  // Done last: a start that fails must not leave a password behind that the next start would not report.
  const firstAdmin = await preparing.then((prepared) => prepared?.make());
  open.open();
  data.keyChanges.begin();
  await beginWorldActivity(options, open, engine.log, opened);
  const isSandboxAdmin = async () =>
    isSandbox && (await auth.users.list()).some(({ name }) => name === firstAdminName);

  return {
    addresses: open.entries.map(({ listener }) => listener.address()),
    firstAdmin,
    sandboxToken: async () =>
      (await isSandboxAdmin()) ? (await auth.beginSession(firstAdminName)).token : undefined,
    sandboxLoginPath: async () =>
      (await isSandboxAdmin()) ? loginLinkPath + loginLinks.create(firstAdminName) : undefined,
    readiness: () => readReadiness(shutdownSignal, services.storeBackend),
    serveHub: fleet.serveHub,
    reloadCertificates: () => open.certificates.reload(),
    close: () => opened.disposeAsync(),
  };
}

/** @param later what is opened after it */
function openAuth(
  { config, data, logger }: OpenGatewayOptions,
  later: { readonly services: () => Services | undefined; readonly fleet: () => Fleet | undefined },
): ReturnType<typeof createAuth> {
  return createAuth({
    store: data.store,
    masterKeys: data.masterKeys,
    config: config.auth,
    serviceNames: knownServices,
    methods: knownMethods(),
    accessOf: (method) => later.services()?.accessOf(method),
    findHost: (name) => later.fleet()?.hub?.hosts.find(name),
    host: hostNameOf(config),
    authenticateHub: createAuthenticateHub(createCeiling(config.fleet.agent.ceiling)),
    onFailed: (message, err) => logger.error({ err }, message),
  });
}

/** Prepares the first admin while the rest starts: hashing a password takes as long. */
function prepareAdmin({ data, secrets }: OpenGatewayOptions): ReturnType<typeof prepareFirstAdmin> {
  const preparing = prepareFirstAdmin({
    store: data.store,
    password: secrets.adminPassword,
    keepPassword: (password) => writeAdminPassword(data.directory, password),
    dropPassword: () => rm(adminPasswordFile(data.directory), { force: true }),
  });
  // Awaited at the end, if the start gets that far.
  preparing.catch(() => {});
  return preparing;
}

/** A sandbox's repositories and machines end with its process, so the store's records of them are stale. */
async function removeStaleRecords(
  { data: { store } }: OpenGatewayOptions,
  { instance: { host } }: Engine,
  { clusters }: Systems,
): Promise<void> {
  await store.run("backups.removeOf", { host });
  await store.run("clusters.removeOf", { backend: clusters?.maas.url ?? "" });
}

/** Returns the handlers of requests of hubs, which arrive only after the listeners are open. */
function handlersOnceOpen(listeners: () => OpenListeners | undefined): OpenListeners["handlers"] {
  return {
    onRequest: (request, response, listener) => listeners()?.handlers.onRequest(request, response, listener),
    onStream: (exchange, listener) => listeners()?.handlers.onStream(exchange, listener) === true,
  };
}

function factsOfListener({ config: { tls, services }, listener }: ConfiguredListener) {
  return { address: listener.address(), tls: tls !== undefined, services: services ?? [] };
}

/** Starts the operations of the store, the schedules, and copies of the store. */
function beginWork(
  { operations, leftCommandsSettled, log }: Engine,
  services: Services,
  { config: { storeBackups }, data, isSandbox, logger }: OpenGatewayOptions,
  shutdown: AbortSignal,
  opened: AsyncDisposableStack,
): void {
  leftCommandsSettled().catch((err: unknown) => {
    if (!shutdown.aborted) {
      logger.warn({ err }, "tools of an earlier gateway may still run");
    }
  });
  operations.begin();
  const schedules = services.beginSchedules();
  opened.defer(() => schedules.close());
  if (storeBackups !== undefined && !isSandbox) {
    const backups = startScheduledBackups({ store: data.store, ...storeBackups }, log);
    opened.defer(() => backups.close());
  }
}

/** Starts what happens by itself in the demo world; nothing without one, and on a hub, whose hosts have the systems for it. */
async function beginWorldActivity(
  { world, config }: OpenGatewayOptions,
  { adminSocket, visited }: OpenListeners,
  log: OperationsLog,
  opened: AsyncDisposableStack,
): Promise<void> {
  if (world === undefined || config.fleet.hub !== undefined) {
    return;
  }
  const { startWorldActivity } = await import("../sandbox/world-activity.ts");
  const activity = startWorldActivity({ world, socketPath: shortSocketPath(adminSocket), visited, log });
  opened.defer(() => activity.close());
}

/** Starts tracing if it is configured. Its libraries are imported only then, because they slow down every start. */
async function tracingOf({
  config: { tracing },
  version,
  isSandbox,
  logger,
}: GatewayOptions): Promise<Tracing | undefined> {
  if (tracing === undefined) {
    return undefined;
  }
  const { startTracing } = await import("../observability/tracing.ts");
  const { endpoint } = tracing;
  const onExportFailed = (err: Error | undefined) =>
    logger.warn({ err, endpoint }, "traces cannot be sent; further failures are not logged until they can");
  return startTracing({ ...tracing, version, isSandbox, onExportFailed });
}
