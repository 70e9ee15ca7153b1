import type { CephAdapter, CephOsd, CephPool, CephState } from "../../../../adapters/ceph/adapter.ts";
import type { Part } from "../../../../adapters/host/part-of-state.ts";
import type { MetricFamily, MetricSample, MetricSource } from "../../../domain/metric-source.ts";

const families = {
  health: { help: "1 for Ceph's current health, 0 for the other values.", labels: ["status"] },
  size: { help: "Raw size of the Ceph cluster.", labels: [] },
  free: { help: "Raw free space of the Ceph cluster.", labels: [] },
  osdUp: { help: "1 while an OSD runs, 0 while it is down.", labels: ["osd", "host", "device_class"] },
  osdIn: { help: "1 while an OSD holds data, 0 while it is out.", labels: ["osd", "host", "device_class"] },
  osdSize: { help: "Size of an OSD.", labels: ["osd", "host", "device_class"] },
  osdFree: { help: "Free space of an OSD.", labels: ["osd", "host", "device_class"] },
  poolStored: { help: "Data stored in a pool, without its copies.", labels: ["pool"] },
  poolFree: { help: "Data that a pool can still store, without its copies.", labels: ["pool"] },
} as const;

const names: Readonly<Record<keyof typeof families, string>> = {
  health: "hostplane_ceph_health",
  size: "hostplane_ceph_size_bytes",
  free: "hostplane_ceph_free_bytes",
  osdUp: "hostplane_ceph_osd_up",
  osdIn: "hostplane_ceph_osd_in",
  osdSize: "hostplane_ceph_osd_size_bytes",
  osdFree: "hostplane_ceph_osd_free_bytes",
  poolStored: "hostplane_ceph_pool_stored_bytes",
  poolFree: "hostplane_ceph_pool_free_bytes",
};

const statuses: readonly CephState["health"]["status"][] = ["HEALTH_OK", "HEALTH_WARN", "HEALTH_ERR"];

/** The Ceph cluster with its OSDs and pools. Parts that Ceph did not report have no series. */
export function createStorageMetrics(ceph: Pick<CephAdapter, "read">): MetricSource {
  return {
    families: Object.entries(families).map(
      ([key, family]): MetricFamily => ({ name: names[key as keyof typeof families], ...family }),
    ),
    async read(signal) {
      // Prometheus must not make the gateway query Ceph more often.
      const { value: state } = await ceph.read(signal, { isWatching: false });
      return [
        ...statuses.map((status) => sample("health", { status }, status === state.health.status ? 1 : 0)),
        ...whole(state),
        ...listOf("ok" in state.osds ? { ok: state.osds.ok.osds } : state.osds).flatMap((osd) =>
          osdSamples(state, osd),
        ),
        ...listOf(state.pools).flatMap(poolSamples),
      ];
    },
  };
}

function whole({ usage }: CephState): MetricSample[] {
  return "ok" in usage
    ? [sample("size", {}, usage.ok.totalBytes), sample("free", {}, usage.ok.availableBytes)]
    : [];
}

function osdSamples({ osdUsage }: CephState, { id, isUp, isIn, host, deviceClass }: CephOsd): MetricSample[] {
  const labels = { osd: String(id), host: host ?? "", device_class: deviceClass ?? "" };
  const usage = listOf(osdUsage).find((each) => each.id === id);
  return [
    sample("osdUp", labels, isUp ? 1 : 0),
    sample("osdIn", labels, isIn ? 1 : 0),
    ...(usage === undefined
      ? []
      : [sample("osdSize", labels, usage.totalBytes), sample("osdFree", labels, usage.availableBytes)]),
  ];
}

function poolSamples({ name, usage }: CephPool): MetricSample[] {
  const labels = { pool: name };
  return usage === undefined
    ? []
    : [sample("poolStored", labels, usage.storedBytes), sample("poolFree", labels, usage.availableBytes)];
}

function sample(
  family: keyof typeof families,
  labels: Readonly<Record<string, string>>,
  value: number | bigint,
): MetricSample {
  return { name: names[family], labels, value: Number(value) };
}

function listOf<T>(part: Part<readonly T[]>): readonly T[] {
  return "ok" in part ? part.ok : [];
}
