import { createSeal } from "../crypto/seal.ts";
import type { GatewayParts } from "../domain/domain-services.ts";
import type { Auth } from "../domains/auth/auth.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { createMetrics, type Metrics } from "../observability/metrics.ts";
import { readDatabaseBytes, readDiskSpace } from "../store/disk-space.ts";
import { readNewestCopyMs } from "../store/scheduled-backups.ts";
import type { Engine } from "./engine.ts";
import type { OpenGatewayOptions } from "./gateway-options.ts";
import { createServices, type Services } from "./services.ts";
import type { Systems } from "./systems.ts";

/** What the services of the domains are created with. */
export interface ServedParts {
  readonly options: OpenGatewayOptions;
  readonly systems: Systems;
  readonly auth: Auth;
  readonly engine: Engine;
  readonly fleet: Fleet;
  readonly routeOf: GatewayParts["routeOf"];
  readonly listeners: GatewayParts["facts"]["listeners"];
}

/**
 * Creates the services of all domains with their metrics, and starts publishing the events of the systems. `opened` closes these,
 * and before them the operations and short changes.
 */
export async function serveDomains(
  { options, systems, auth, engine, fleet, routeOf, listeners }: ServedParts,
  opened: AsyncDisposableStack,
): Promise<{ readonly services: Services; readonly metrics: Metrics }> {
  const { config, data, isSandbox, version, boundary } = options;
  const { instance, log, runner, operations, events, history } = engine;
  const { store } = data;
  const readDisk = store.isShared ? undefined : () => readDiskSpace(data.directory);
  const readSizeBytes = store.isShared
    ? async () => (await store.run("store.size", {})).sizeBytes
    : () => readDatabaseBytes(data.directory);
  // A sandbox writes none.
  const scheduledCopies = isSandbox ? undefined : config.storeBackups;
  const services = await createServices({
    systems,
    runner,
    operations,
    leftCommandsSettled: engine.leftCommandsSettled,
    events,
    history,
    fleet,
    measures: {
      callCount: () => metrics.rpc.callCount(),
      readStoreBytes: store.isShared ? undefined : readSizeBytes,
    },
    repositoryKeySeal: createSeal(data.masterKeys, "repository-key"),
    clusterSeal: createSeal(data.masterKeys, "cluster"),
    planSeal: createSeal(data.masterKeys, "plans"),
    planDigestKey: data.digestKeys.plans,
    approvalRules: config.approvals.rules,
    instanceId: instance.instanceId,
    host: instance.host,
    auth,
    store,
    writes: data.writes,
    readDisk,
    log,
    ...(boundary === undefined ? {} : { boundary }),
    maxMessageBytes: config.limits.maxMessageBytes,
    routeOf,
    facts: { version, host: instance.host, isSandbox, startedAtMs: Date.now(), listeners },
  });
  // Closed after everything that changes systems, so that it publishes those changes too.
  const observer = options.isForCommand === true ? undefined : services.observe();
  opened.defer(() => observer?.close());
  opened.defer(() => runner.drain());
  opened.defer(() => operations.close());
  const metrics = createMetrics({
    version,
    isSandbox,
    backends: services.backends,
    countOperations: operations.counts,
    sources: services.metrics,
    store: {
      isWritable: () => data.writes.failure() === undefined,
      readDisk,
      readSizeBytes,
      readNewestCopyMs: scheduledCopies && (() => readNewestCopyMs(scheduledCopies.directory)),
    },
    history,
  });
  opened.defer(() => metrics.close());
  return { services, metrics };
}
