import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { rm } from "node:fs/promises";
import { hostname } from "node:os";
import type { FastifyBaseLogger } from "fastify";
import { InfraError } from "../adapters/host/infra-error.ts";
import { settleLeftCommands, settleLeftTools } from "../adapters/host/left-tools.ts";
import { makeOnce } from "../adapters/host/make-once.ts";
import { setToolOwner } from "../adapters/host/tool-mark.ts";
import { type AppOptions, createApp } from "./app.ts";
import { createCallChain } from "./call-chain.ts";
import type { Config, ListenerConfig } from "./config/schema.ts";
import { createSeal } from "./crypto/seal.ts";
import { adminPasswordFile, writeAdminPassword } from "./domains/auth/admin-password-file.ts";
import { type Auth, createAuth } from "./domains/auth/auth.ts";
import { type FirstAdmin, firstAdminName, prepareFirstAdmin } from "./domains/auth/first-admin.ts";
import { createEvents } from "./events/events.ts";
import { knownServices, methodRuleOf } from "./method-table.ts";
import { createMetrics } from "./observability/metrics.ts";
import type { Tracing } from "./observability/tracing.ts";
import type { Data } from "./open-data.ts";
import { createOperations } from "./operations/create-operations.ts";
import type { OperationsLog, OperationsOptions } from "./operations/operations-options.ts";
import { createInlineRunner } from "./operations/run-inline.ts";
import { adminSocketOf, createAdminListener } from "./rpc/listener/admin-listener.ts";
import { createCertificateReload } from "./rpc/listener/certificate-reload.ts";
import { createConfiguredListener } from "./rpc/listener/configured-listener.ts";
import { explainListenFailure } from "./rpc/listener/explain-listen-failure.ts";
import type { Listener } from "./rpc/listener/listener.ts";
import { createRefusalLog } from "./rpc/listener/refusal-log.ts";
import { createRequestGate } from "./rpc/listener/request-gate.ts";
import { createUnknownCallers } from "./rpc/listener/unknown-callers.ts";
import { createOpenCalls } from "./rpc/open-calls.ts";
import { createPageAccess } from "./rpc/page-access.ts";
import { createServices } from "./services.ts";
import { readDiskSpace } from "./store/disk-space.ts";
import type { Systems } from "./systems.ts";

/** How soon a certificate that was renewed on disk is used. */
const certificateCheckMs = 60_000;

const dayMs = 86_400_000;

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
  /** It is there for a command of an admin: it runs no operations of the store, and tells of no system. */
  readonly isForCommand?: boolean;
  /** Further services beside those of the contract, such as that of the conformance suite. */
  readonly furtherServices?: Pick<AppOptions, "registrations" | "registry" | "maxAnswerBytes"> &
    Required<Pick<AppOptions, "ruleOf">>;
  /** For tests: called at each boundary of an operation's life, and of what is done for clusters. */
  readonly boundary?: OperationsOptions["boundary"];
  /** Called when the gateway cannot go on, and the process has to end. */
  readonly onFatal: (error: Error) => void;
}

/** What is opened before all else is loaded. */
export interface OpenGatewayOptions extends GatewayOptions {
  readonly data: Data;
  readonly createSystems: () => Systems | Promise<Systems>;
}

export interface Gateway {
  /** Where it listens, as clients write it; port 0 of the configuration is the real one here. */
  readonly addresses: readonly string[];
  /** The user that was made at this start, which is the first one on its store. */
  readonly firstAdmin: FirstAdmin | undefined;
  /** A token of the first admin, for whoever starts a sandbox; undefined for a real gateway, or if that user is gone. */
  sandboxToken(): Promise<string | undefined>;
  /** Reads the certificate files again. @throws Error when one cannot be read; the old ones stay then */
  reloadCertificates(): void;
  /**
   * Refuses new calls, ends open ones with SHUTTING_DOWN, cuts what is left after the configured grace, and
   * waits for mutations that have begun, however long they take.
   */
  close(): Promise<void>;
}

/**
 * Starts everything the configuration names, over what it keeps: users, systems, services and listeners. What has to be closed
 * again is put on `opened`, also when it fails.
 * @throws Error that says what to do when one of them cannot be had
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

  // Hashing a password takes as long as the rest of a start, and runs beside it.
  const preparing = prepareFirstAdmin({
    store: data.store,
    password: secrets.adminPassword,
    keepPassword: (password) => writeAdminPassword(data.directory, password),
    dropPassword: () => rm(adminPasswordFile(data.directory), { force: true }),
  });
  // It is awaited at the end, if the start comes so far.
  preparing.catch(() => {});

  // Gateways of one store share its key.
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
  const leftCommands = makeOnce(async () => {
    await settleCommands(shutdown.signal);
    shutdown.signal.throwIfAborted();
  });
  const log: OperationsLog = {
    info: (message) => logger.info(message),
    warn: (message, err) => logger.warn({ err }, message),
  };
  const instance = { instanceId: randomUUID(), host: config.host ?? hostname() };
  if (isSandbox) {
    // Repositories and machines of a sandbox are gone with its process, and what the store says of them is true no more.
    await data.store.run("backups.removeOf", { host: instance.host });
    await data.store.run("clusters.removeOf", { backend: systems.clusters?.maas.url ?? "" });
  }
  const readDisk = data.store.isShared ? undefined : () => readDiskSpace(data.directory);
  const events = await createEvents({
    store: data.store,
    keepMs: config.events.keepDays * dayMs,
    onFailed: (err) => logger.error({ err }, "events could not be read; tried again until they can"),
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
  const { registrations, backends, storeBackend, isPlannable, observe, beginSchedules } = createServices({
    systems,
    runner,
    operations,
    leftCommandsSettled: leftCommands.get,
    events,
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
  // It outlives what changes systems, and tells that as well.
  const observer = options.isForCommand === true ? undefined : observe();
  opened.defer(() => observer?.close());
  opened.defer(() => runner.drain());
  opened.defer(() => operations.close());
  const metrics = createMetrics({
    version,
    isSandbox,
    backends,
    countOperations: operations.counts,
    store: { isWritable: () => data.writes.failure() === undefined, readDisk },
  });
  opened.defer(() => metrics.close());
  const chain = createCallChain({
    data,
    authenticate: auth.authenticate,
    observe: { metrics: metrics.rpc, tracing },
    config,
    instance: { ...instance, isSandbox },
    logger,
  });
  opened.defer(() => chain.close());
  const app = await createApp({
    registrations: [...registrations, ...(options.furtherServices?.registrations ?? [])],
    ...optionsOfFurtherServices(options),
    backends,
    storeBackend,
    isPlannable,
    isSandbox,
    version,
    chain,
    metrics,
    mayReadMetrics: createPageAccess(auth.authenticate),
    backupStore: async (file) => {
      const { sizeBytes, keyCheck } = await data.store.backup(file);
      return { sizeBytes, masterKey: `${data.masterKey.source} (fingerprint ${keyCheck})` };
    },
    logger,
    corsOrigins: config.cors.origins,
    maxMessageBytes: config.limits.maxMessageBytes,
    maxDeadlineMs: config.limits.maxDeadlineMs,
    keepAliveMs: config.keepAliveMs,
    openCalls: config.directPath ? createOpenCalls(shutdown.signal) : undefined,
    shutdownSignal: shutdown.signal,
  });
  opened.defer(() => app.close());
  const requests = createRequestGate(app);
  const certificates = createCertificateReload(certificateCheckMs, {
    onReloaded: (files) => logger.info({ files }, "certificate read again"),
    onRefused: (err) => logger.error({ err }, "a certificate stays as it is"),
  });
  opened.defer(() => certificates.close());

  const tellCut = createRefusalLog((cut) => logger.warn(cut, "request cut"));
  const { unknown, writeTimeoutMs } = config.limits;
  const unknownCallers = createUnknownCallers(unknown, writeTimeoutMs, tellCut);
  opened.defer(() => unknownCallers.close());

  const listeners: Listener[] = [];
  opened.defer(async () => {
    shutdown.abort(new InfraError("SHUTTING_DOWN", "the gateway is stopping"));
    requests.open();
    await Promise.all(listeners.map((listener) => listener.close(config.shutdownGraceMs)));
  });
  async function open(listener: Listener): Promise<Listener> {
    await listener.listen();
    listeners.push(listener);
    return listener;
  }
  const handlers = { onRequest: requests.handle, onStream: requests.handleStream };
  const path = options.adminSocket ?? adminSocketOf(data.directory);
  await open(createAdminListener({ path, config, ...handlers }));
  for (const entry of config.listen) {
    const listener = createConfiguredListener(entry, {
      config,
      certificates,
      logger,
      unknownCallers,
      ...handlers,
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
    operations.begin();
    const schedules = beginSchedules();
    opened.defer(() => schedules.close());
  }
  // Last, so that a start that fails leaves no password behind that the next start would not report.
  const firstAdmin = await preparing.then((prepared) => prepared?.make());
  requests.open();

  return {
    addresses: entries.map(({ listener }) => listener.address()),
    firstAdmin,
    sandboxToken: async () => (isSandbox ? tokenOfFirstAdmin(auth) : undefined),
    reloadCertificates: () => certificates.reload(),
    close: () => opened.disposeAsync(),
  };
}

/** What further services need beside their registrations; rules of all others are those of the method table. */
function optionsOfFurtherServices({ furtherServices }: GatewayOptions): Partial<AppOptions> {
  if (furtherServices === undefined) {
    return {};
  }
  const { registrations, ruleOf, ...rest } = furtherServices;
  const further = new Set(registrations.map(({ service }) => service));
  return { ...rest, ruleOf: (method) => (further.has(method.parent) ? ruleOf : methodRuleOf)(method) };
}

async function tokenOfFirstAdmin(auth: Auth): Promise<string | undefined> {
  const users = await auth.users.list();
  return users.some(({ name }) => name === firstAdminName)
    ? (await auth.beginSession(firstAdminName)).token
    : undefined;
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
