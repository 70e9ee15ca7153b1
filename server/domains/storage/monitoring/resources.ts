import type {
  CephAdapter,
  CephHost,
  CephOsd,
  CephPool,
  CephPoolUsage,
  CephReader,
  CephState,
} from "../../../../adapters/ceph/adapter.ts";
import { cephResource } from "../../../../adapters/ceph/names.ts";
import { cephReasons } from "../../../../adapters/ceph/reasons.ts";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { oncePerObject } from "../../../../adapters/host/once-per-object.ts";
import type { Part } from "../../../../adapters/host/part-of-state.ts";
import {
  bytes,
  count,
  type Figure,
  type InventorySource,
  type ListedResources,
  percent,
  type Resource,
  type ResourceHealth,
  time,
} from "../../../domain/inventory-source.ts";
import { storageResourceTypes } from "./resource-types.ts";

const healthOf: Readonly<Record<CephState["health"]["status"], ResourceHealth>> = {
  HEALTH_OK: "ok",
  HEALTH_WARN: "degraded",
  HEALTH_ERR: "failed",
};

/** The Ceph cluster with its hosts, OSDs and pools. */
export function createStorageResources(ceph: Pick<CephAdapter, "read" | "subscribe">): InventorySource {
  const resourcesOf = oncePerObject((state: CephState) => [
    clusterResource(state),
    ...listOf(state.hosts).map((host) => hostResource(state, host)),
    ...listOf(mapOf(state.osds, ({ osds }) => osds)).map((osd) => osdResource(state, osd)),
    ...listOf(state.pools).map((pool) => poolResource(state, pool)),
  ]);
  async function readAs(reader: CephReader, signal: AbortSignal): Promise<ListedResources> {
    const { value, readAtMs, staleBecause } = await ceph.read(signal, reader);
    const resources = resourcesOf(value);
    return staleBecause === undefined
      ? { resources, readAtMs }
      : { resources, readAtMs, staleBecause: new InfraError(cephReasons.CEPH_UNAVAILABLE, staleBecause) };
  }

  return {
    ...storageResourceTypes,
    read: (signal) => readAs({}, signal),
    sample: (signal) => readAs({ isWatching: false }, signal),
    // A reader of the inventory does not make the gateway ask Ceph more often.
    subscribe: (onChange) => ceph.subscribe(onChange, { isWatching: false }),
  };
}

function clusterResource({ fsid, health, usage }: CephState): Resource {
  const figures = mapOf(usage, ({ totalBytes, usedBytes, availableBytes }) => [
    bytes("size", totalBytes),
    bytes("used", usedBytes),
    bytes("free", availableBytes),
  ]);
  return {
    name: cephResource(fsid),
    type: "cephCluster",
    title: "Ceph",
    state: health.status,
    health: healthOf[health.status],
    figures: listOf(figures),
    labels: Object.fromEntries(health.checks.map(({ code }) => [`check/${code}`, ""])),
    properties: { fsid },
    ...(health.checks.length === 0 ? {} : { reason: health.checks.map(({ summary }) => summary).join("; ") }),
  };
}

function hostResource({ fsid, osds }: CephState, { name, daemons }: CephHost): Resource {
  const down = listOf(mapOf(osds, (map) => map.osds)).filter(({ host, isUp }) => host === name && !isUp);
  return {
    name: cephResource(fsid, "hosts", name),
    type: "cephHost",
    title: name,
    state: down.length === 0 ? "ok" : "osds down",
    health: down.length === 0 ? "ok" : "degraded",
    figures: [count("daemons", daemons.length), count("osds_down", down.length)],
    labels: {},
    properties: daemons.length === 0 ? {} : { daemons: daemons.join(", ") },
    ...(down.length === 0 ? {} : { reason: `${down.map(({ id }) => `osd.${id}`).join(", ")} down` }),
  };
}

function osdResource(
  { fsid, osdUsage }: CephState,
  { id, isUp, isIn, host, deviceClass, reweight }: CephOsd,
): Resource {
  const usage = listOf(osdUsage).find((each) => each.id === id);
  return {
    name: cephResource(fsid, "osds", String(id)),
    type: "osd",
    title: `osd.${id}`,
    state: `${isUp ? "up" : "down"}, ${isIn ? "in" : "out"}`,
    health: isUp ? (isIn ? "ok" : "degraded") : "failed",
    figures: [
      ...(usage === undefined
        ? []
        : [
            bytes("size", usage.totalBytes),
            bytes("used", usage.usedBytes),
            bytes("free", usage.availableBytes),
            count("pgs", usage.pgCount),
          ]),
      count("reweight", reweight),
    ],
    labels: {
      ...(host === undefined ? {} : { host }),
      ...(deviceClass === undefined ? {} : { device_class: deviceClass }),
    },
  };
}

function poolResource({ fsid, scrubs }: CephState, pool: CephPool): Resource {
  const { id, name, kind, pgCount, usage, applications, failureDomain, quotaBytes, redundancy } = pool;
  const deepScrubAtMs = listOf(scrubs).find(({ poolId }) => poolId === id)?.oldestDeepScrubAtMs;
  const sizes: readonly Figure[] =
    usage === undefined
      ? []
      : [
          bytes("stored", usage.storedBytes),
          bytes("used", usage.usedBytes),
          bytes("free", usage.availableBytes),
          count("objects", usage.objectCount),
          ...poolShare(usage, quotaBytes),
        ];
  return {
    name: cephResource(fsid, "pools", name),
    type: "cephPool",
    title: name,
    state: kind,
    // Ceph reports faults of placement groups for the whole cluster.
    health: "unknown",
    figures: [
      ...sizes,
      count("pgs", pgCount),
      count("copies", pool.size),
      count("min_copies", pool.minSize),
      ...(redundancy === undefined ? [] : [count("redundancy", redundancy)]),
      ...(quotaBytes === undefined ? [] : [bytes("quota", quotaBytes)]),
      ...(pool.quotaObjects === undefined ? [] : [count("quota_objects", pool.quotaObjects)]),
      ...(deepScrubAtMs === undefined ? [] : [time("deep_scrubbed", deepScrubAtMs)]),
    ],
    labels: Object.fromEntries(applications.map((application) => [`application/${application}`, ""])),
    properties: failureDomain === undefined ? {} : { failure_domain: failureDomain.type },
  };
}

/** The share of the space for clients that they use: of the cluster's, or of the pool's quota if that is smaller. */
function poolShare(
  { storedBytes, availableBytes }: CephPoolUsage,
  quotaBytes: bigint | undefined,
): readonly Figure[] {
  const possible = storedBytes + availableBytes;
  const limit = quotaBytes !== undefined && quotaBytes < possible ? quotaBytes : possible;
  return limit > 0n ? [percent("data_used", (Number(storedBytes) / Number(limit)) * 100)] : [];
}

function listOf<T>(part: Part<readonly T[]>): readonly T[] {
  return "ok" in part ? part.ok : [];
}

function mapOf<T, U>(part: Part<T>, map: (value: T) => U): Part<U> {
  return "ok" in part ? { ok: map(part.ok) } : part;
}
