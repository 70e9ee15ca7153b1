import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import type { FastifyBaseLogger } from "fastify";
import { createOnce } from "../../adapters/host/create-once.ts";
import { InfraError } from "../../adapters/host/infra-error.ts";
import { settleLeftCommands, settleLeftTools } from "../../adapters/host/process/left-tools.ts";
import { setToolOwner } from "../../adapters/host/process/tool-mark.ts";
import { hostReasons } from "../../adapters/host/reasons.ts";
import type { ListenerConfig } from "../config/gateway-keys.ts";
import { createSeal } from "../crypto/seal.ts";
import type { DemoWorld } from "../domain/demo-world.ts";
import { adminPasswordFile, writeAdminPassword } from "../domains/auth/admin-password-file.ts";
import { createAuth } from "../domains/auth/auth.ts";
import { type FirstAdmin, firstAdminName, prepareFirstAdmin } from "../domains/auth/first-admin.ts";
import { createLoginLinks, type LoginLinks } from "../domains/auth/sessions/login-links.ts";
import { sessionCookie } from "../domains/auth/sessions/session-cookie.ts";
import { createEvents } from "../events/events.ts";
import { createAuthenticateHub } from "../fleet/agent/authenticate-hub.ts";
import { createCeiling } from "../fleet/agent/ceiling.ts";
import { createLinkServer } from "../fleet/agent/link-server.ts";
import type { FleetHosts } from "../fleet/forward/fleet-hosts.ts";
import { createHistory } from "../history/history.ts";
import { createMetrics } from "../observability/metrics.ts";
import type { Tracing } from "../observability/tracing.ts";
import { createOperations } from "../operations/engine/create-operations.ts";
import { createInlineRunner } from "../operations/engine/run-inline.ts";
import type { OperationsLog, OperationsOptions } from "../operations/operations-options.ts";
import { createOpenCalls } from "../rpc/call/open-calls.ts";
import { adminSocketOf, createAdminListener, shortSocketPath } from "../rpc/listener/admin-listener.ts";
import { createCertificateReload } from "../rpc/listener/certificates/certificate-reload.ts";
import { createConfiguredListener } from "../rpc/listener/configured-listener.ts";
import { explainListenFailure } from "../rpc/listener/explain-listen-failure.ts";
import type { Listener } from "../rpc/listener/listener.ts";
import { createRefusalLog } from "../rpc/listener/refusal-log.ts";
import { createRequestGate, type RequestGate } from "../rpc/listener/request-gate.ts";
import { createUnknownCallers } from "../rpc/listener/unknown-callers/unknown-callers.ts";
import { createPageAccess } from "../rpc/protocols/http/page-access.ts";
import { awaitFirstVisit } from "../sandbox/first-visit.ts";
import { readDatabaseBytes, readDiskSpace } from "../store/disk-space.ts";
import { loginLinkPath } from "../web/login-link.ts";
import { type Readiness, readReadiness } from "../web/readiness.ts";
import { type App, type AppOptions, createApp } from "./app.ts";
import { createCallChain } from "./call-chain.ts";
import type { Config } from "./config/schema.ts";
import { knownServices, methodRuleOf } from "./method-rules.ts";
import type { Data } from "./open-data.ts";
import { openFleet } from "./open-fleet.ts";
import { createServices } from "./services.ts";
import type { Systems } from "./systems.ts";

/** How often certificate files are checked for renewal. */
const certificateCheckMs = 60_000;

const dayMs = 86_400_000;

export interface GatewayOptions {
  readonly config: Config;
  readonly isSandbox: boolean;
  /** The demo world of a sandbox; absent: a quiet one. */
  readonly world?: DemoWorld | undefined;
  readonly version: string;
  readonly logger: FastifyBaseLogger;
  /** Secrets from the environment. None is kept in the process longer than needed. */
  readonly secrets: {
    /** HOSTPLANE_KEY */
    readonly key?: string | undefined;
    /** HOSTPLANE_ADMIN_PASSWORD */
    readonly adminPassword?: string | undefined;
  };
  /** Path of the admin socket; absent: `admin.sock` in the data directory. */
  readonly adminSocket?: string;
  /** Set when the gateway runs only for an admin command: it then runs no operations of the store and publishes no events. */
  readonly isForCommand?: boolean;
  /** Services besides those of the contract, such as the conformance suite's. */
  readonly furtherServices?: Pick<AppOptions, "registrations" | "registry" | "maxAnswerBytes"> &
    Required<Pick<AppOptions, "ruleOf">>;
  /** Answer some calls instead of connect-es; absent: those of accelerators.ts. For tests, which also run with none. */
  readonly accelerators?: AppOptions["accelerators"];
  /** The hosts of the fleet whose hub this gateway is; absent: it is no hub. */
  readonly fleetHosts?: FleetHosts | undefined;
  /** For tests: called at each boundary of an operation's life, and of the steps that change clusters. */
  readonly boundary?: OperationsOptions["boundary"];
  /** Called when the gateway cannot continue and the process must exit. */
  readonly onFatal: (error: Error) => void;
}

/** The parts that are opened before the rest is loaded. */
export interface OpenGatewayOptions extends GatewayOptions {
  readonly data: Data;
  readonly createSystems: () => Systems | Promise<Systems>;
}

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
  /** Serves a hub on a connection that was opened to it, until either side closes it. */
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
  const { config, isSandbox, version, logger, secrets, data } = options;
  const shutdown = new AbortController();
  // Every open call listens to it.
  setMaxListeners(0, shutdown.signal);
  const entries: { readonly config: ListenerConfig; readonly listener: Listener }[] = [];

  // Hashing a password takes as long as the rest of the start, so it runs in parallel.
  const preparing = prepareFirstAdmin({
    store: data.store,
    password: secrets.adminPassword,
    keepPassword: (password) => writeAdminPassword(data.directory, password),
    dropPassword: () => rm(adminPasswordFile(data.directory), { force: true }),
  });
  // Awaited at the end, if the start gets that far.
  preparing.catch(() => {});

  // Gateways that share a store share its key.
  setToolOwner(data.masterKey.fingerprint);
  const tracing = await tracingOf(options);
  opened.defer(() => tracing?.close());
  const systems = await options.createSystems();
  opened.defer(() => systems.close());
  const auth = await createAuth({
    store: data.store,
    masterKey: data.masterKey,
    config: config.auth,
    serviceNames: knownServices,
    authenticateHub: createAuthenticateHub(createCeiling(config.fleet.agent.ceiling)),
    onFailed: (message, err) => logger.error({ err }, message),
  });
  opened.defer(() => auth.close());

  const runner = createInlineRunner((mutation, step, err) =>
    logger.error(
      { err, mutation: mutation.kind, resource: mutation.resource, step: step.name },
      "undo failed",
    ),
  );
  const settleCommands = (signal: AbortSignal) =>
    settleLeftCommands({
      signal,
      onWaiting: (tools) =>
        logger.warn({ tools }, "changes of volumes wait for tools that an earlier gateway started"),
    });
  const leftCommands = createOnce(async () => {
    await settleCommands(shutdown.signal);
    shutdown.signal.throwIfAborted();
  });
  const log: OperationsLog = {
    info: (message) => logger.info(message),
    warn: (message, err) => logger.warn({ err }, message),
  };
  const instance = { instanceId: randomUUID(), host: config.host ?? hostname() };
  if (isSandbox) {
    // A sandbox's repositories and machines end with its process, so the store's records of them are stale.
    await data.store.run("backups.removeOf", { host: instance.host });
    await data.store.run("clusters.removeOf", { backend: systems.clusters?.maas.url ?? "" });
  }
  const readDisk = data.store.isShared ? undefined : () => readDiskSpace(data.directory);
  const readSizeBytes = data.store.isShared
    ? async () => (await data.store.run("store.size", {})).sizeBytes
    : () => readDatabaseBytes(data.directory);
  const events = await createEvents({
    store: data.store,
    keepMs: config.events.keepDays * dayMs,
    onFailed: (err) => logger.error({ err }, "events could not be read; retrying"),
  });
  opened.defer(() => events.close());
  const operations = createOperations({
    store: data.store,
    instance,
    seal: createSeal(data.masterKey, "operations"),
    limits: { ...config.operations, keepMs: config.operations.keepDays * dayMs },
    log,
    settleLeftTools: (signal) =>
      settleLeftTools({
        signal,
        onWaiting: (tools) =>
          logger.warn({ tools }, "an operation waits for tools that an earlier gateway started"),
      }),
    settleLeftCommands: settleCommands,
    ...(options.boundary === undefined ? {} : { boundary: options.boundary }),
  });
  const history = createHistory({
    ...config.history,
    // A sandbox's systems end with its process, and so does their history.
    file: isSandbox ? undefined : join(data.directory, "history"),
    onFailed: (what, err) => logger.warn({ err }, what),
  });
  opened.defer(() => history.save());
  let app: App | undefined;
  let requests: RequestGate | undefined;
  const fleet = await openFleet({
    config,
    data,
    host: instance.host,
    version,
    log,
    handlers: {
      onRequest: (request, response, listener) => requests?.handle(request, response, listener),
      onStream: (exchange, listener) => requests?.handleStream(exchange, listener) === true,
    },
  });
  opened.defer(() => fleet.close());
  const {
    registrations,
    backends,
    storeBackend,
    metrics: sources,
    isPlannable,
    observe,
    beginSchedules,
  } = await createServices({
    systems,
    runner,
    operations,
    leftCommandsSettled: leftCommands.get,
    events,
    history,
    fleet,
    measures: {
      callCount: () => metrics.rpc.callCount(),
      readStoreBytes: data.store.isShared ? undefined : readSizeBytes,
    },
    repositoryKeySeal: createSeal(data.masterKey, "repository-key"),
    clusterSeal: createSeal(data.masterKey, "cluster"),
    instanceId: instance.instanceId,
    host: instance.host,
    auth,
    store: data.store,
    writes: data.writes,
    readDisk,
    log,
    ...(options.boundary === undefined ? {} : { boundary: options.boundary }),
    maxMessageBytes: config.limits.maxMessageBytes,
    routeOf: (methodPath) => app?.routeOf(methodPath),
    facts: {
      version,
      host: instance.host,
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
  // Closed after everything that changes systems, so that it publishes those changes too.
  const observer = options.isForCommand === true ? undefined : observe();
  opened.defer(() => observer?.close());
  opened.defer(() => runner.drain());
  opened.defer(() => operations.close());
  const metrics = createMetrics({
    version,
    isSandbox,
    backends,
    countOperations: operations.counts,
    sources,
    store: { isWritable: () => data.writes.failure() === undefined, readDisk, readSizeBytes },
    history,
  });
  opened.defer(() => metrics.close());
  const loginLinks = createLoginLinks(auth.beginSession);
  const chain = createCallChain({
    data,
    authenticate: auth.authenticate,
    observe: { metrics: metrics.rpc, tracing },
    config,
    instance: { ...instance, isSandbox },
    logger,
  });
  opened.defer(() => chain.close());
  const served = await createApp({
    registrations: [...registrations, ...(options.furtherServices?.registrations ?? [])],
    ...optionsOfFurtherServices(options),
    backends,
    storeBackend,
    isPlannable,
    isSandbox,
    version,
    chain,
    forwarding: options.fleetHosts && {
      hosts: options.fleetHosts,
      hub: instance.host,
      interceptorsFor: chain.forwardedInterceptorsFor,
    },
    metrics,
    mayReadMetrics: createPageAccess(auth.authenticate),
    // The user who starts a sandbox gets a link that logs in; a real gateway has none.
    redeemLoginLink: isSandbox ? redeemLoginLink(loginLinks) : undefined,
    backupStore: async (file) => {
      const { sizeBytes, keyCheck } = await data.store.backup(file);
      return { sizeBytes, masterKey: `${data.masterKey.source} (fingerprint ${keyCheck})` };
    },
    logger,
    corsOrigins: config.cors.origins,
    maxMessageBytes: config.limits.maxMessageBytes,
    maxDeadlineMs: config.limits.maxDeadlineMs,
    keepAliveMs: config.keepAliveMs,
    openCalls: createOpenCalls(shutdown.signal),
    ...(options.accelerators === undefined ? {} : { accelerators: options.accelerators }),
    shutdownSignal: shutdown.signal,
  });
  app = served;
  opened.defer(() => served.close());
  const gate = createRequestGate(served);
  requests = gate;
  const certificates = createCertificateReload(certificateCheckMs, {
    onReloaded: (files) => logger.info({ files }, "certificate reloaded"),
    onRefused: (err) =>
      logger.error({ err }, "a certificate could not be reloaded; the old one stays in use"),
  });
  opened.defer(() => certificates.close());

  const logCut = createRefusalLog((cut) => logger.warn(cut, "request cut"));
  const { unknown, writeTimeoutMs } = config.limits;
  const unknownCallers = createUnknownCallers(unknown, writeTimeoutMs, logCut);
  opened.defer(() => unknownCallers.close());

  const listeners: Listener[] = [];
  opened.defer(async () => {
    shutdown.abort(new InfraError(hostReasons.SHUTTING_DOWN, "the gateway is stopping"));
    gate.open();
    await Promise.all(listeners.map((listener) => listener.close(config.shutdownGraceMs)));
  });
  async function open(listener: Listener): Promise<Listener> {
    await listener.listen();
    listeners.push(listener);
    return listener;
  }
  const handlers = { onRequest: gate.handle, onStream: gate.handleStream };
  const { handlers: visitedHandlers, visited } = awaitFirstVisit(handlers);
  const links = createLinkServer(handlers);
  opened.defer(() => links.close());
  const path = options.adminSocket ?? adminSocketOf(data.directory);
  await open(createAdminListener({ path, config, ...handlers }));
  for (const entry of config.listen) {
    const listener = createConfiguredListener(entry, {
      config,
      certificates,
      logger,
      unknownCallers,
      ...(options.world === undefined ? handlers : visitedHandlers),
    });
    const opening = open(listener).catch((error: unknown) => {
      throw explainListenFailure(error, entry.address);
    });
    entries.push({ config: entry, listener: await opening });
  }

  if (options.isForCommand !== true) {
    leftCommands.get().catch((err: unknown) => {
      if (!shutdown.signal.aborted) {
        logger.warn({ err }, "tools of an earlier gateway may still run");
      }
    });
    const agentsListener = await fleet.createListener(unknownCallers);
    if (agentsListener !== undefined) {
      await open(agentsListener).catch((error: unknown) => {
        throw explainListenFailure(error, config.fleet.hub?.listen ?? "");
      });
    }
    fleet.membership.begin();
    operations.begin();
    const schedules = beginSchedules();
    opened.defer(() => schedules.close());
  }
  // Done last: a start that fails must not leave a password behind that the next start would not report.
  const firstAdmin = await preparing.then((prepared) => prepared?.make());
  gate.open();
  if (options.world !== undefined) {
    const { startWorldActivity } = await import("../sandbox/world-activity.ts");
    const activity = startWorldActivity({
      world: options.world,
      socketPath: shortSocketPath(path),
      visited,
      log,
    });
    opened.defer(() => activity.close());
  }
  const isSandboxAdmin = async () =>
    isSandbox && (await auth.users.list()).some(({ name }) => name === firstAdminName);

  return {
    addresses: entries.map(({ listener }) => listener.address()),
    firstAdmin,
    sandboxToken: async () =>
      (await isSandboxAdmin()) ? (await auth.beginSession(firstAdminName)).token : undefined,
    sandboxLoginPath: async () =>
      (await isSandboxAdmin()) ? loginLinkPath + loginLinks.create(firstAdminName) : undefined,
    readiness: () => readReadiness(shutdown.signal, storeBackend),
    serveHub: links.serve,
    reloadCertificates: () => certificates.reload(),
    close: () => opened.disposeAsync(),
  };
}

/** Options of further services besides their registrations. All other services use the rules of the method table. */
function optionsOfFurtherServices({ furtherServices }: GatewayOptions): Partial<AppOptions> {
  if (furtherServices === undefined) {
    return {};
  }
  const { registrations, ruleOf, ...rest } = furtherServices;
  const further = new Set(registrations.map(({ service }) => service));
  return { ...rest, ruleOf: (method) => (further.has(method.parent) ? ruleOf : methodRuleOf)(method) };
}

/** Returns the function that exchanges the code of a login link for a session cookie. */
function redeemLoginLink(links: LoginLinks) {
  return async (code: string, isTls: boolean): Promise<string | undefined> => {
    const session = await links.redeem(code);
    return session && sessionCookie(session.token, session.expiresAtMs - Date.now(), { isTls });
  };
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
