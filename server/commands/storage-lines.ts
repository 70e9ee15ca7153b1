import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import {
  type CephCrash,
  type CephOsd,
  type CephPool,
  CephPoolKind,
} from "../../gen/hostplane/v1/storage_pb.ts";
import {
  type ClusterRadar,
  type ClusterStats,
  type NodeInfo,
  ReliabilityScore,
  type ResourceInfo,
  ResourceStatus,
} from "../../gen/resources/stats/stats_pb.ts";
import { printableLine } from "../cli/table/printable-line.ts";
import { sizeText } from "../cli/table/size-text.ts";
import { textTable } from "../cli/table/text-table.ts";

/** Placeholder for an unknown value. */
const unknown = "?";

/**
 * Formats one row per figure, without those that could not be read.
 * @param missing fields from the header `hostplane-missing`: an unset number looks like 0
 */
export function statsLines(
  { id, status, crashes, services, data, iops }: ClusterStats,
  missing: readonly string[],
): string[] {
  const { mon, mgr, mds, osd, rgw } = services ?? {};
  const { volumes, pools, objects, usage } = data ?? {};
  const rows = [
    ["cluster", id],
    ["health", status],
    ...crashes.map(({ description }) => ["crash", description]),
    ...row(mon, "monitors", (one) => `${one.daemonCount}, in quorum ${one.quorum}`),
    ...row(mgr, "managers", (one) => [one.active || "none active", ...one.standbys].join(", standby ")),
    ...row(mds, "mds", (one) => `${one.daemonsUp} up, ${one.hotStandbyCount} hot standbys`),
    ...row(osd, "osds", (one) => `${one.osdCount}, ${one.osdUp} up, ${one.osdIn} in`),
    ...row(rgw, "rgws", (one) => `${one.activeDaemon} on ${one.hostCount} hosts, ${one.zoneCount} zones`),
    ...row(missing.includes("data.volumes") ? undefined : volumes, "volumes", String),
    ...row(pools, "pools", (one) =>
      [String(one.pools), ...(one.pgs === undefined ? [] : [`${one.pgs.activeClean} PGs active+clean`])].join(
        ", ",
      ),
    ),
    ...row(objects, "objects", (one) => `${one.objectCount}, ${one.size}`),
    ...row(
      usage,
      "space",
      (one) => `${sizeText(one.used)} used, ${sizeText(one.available)} free of ${sizeText(one.total)}`,
    ),
    ...row(iops, "clients", (one) =>
      [one.clientRead, one.clientWrite, one.clientReadOps, one.clientWriteOps].join(", "),
    ),
  ];
  return textTable(
    ["FIGURE", "VALUE"],
    rows.map((cells) => cells.map(printableLine)),
  );
}

function row<T>(value: T | undefined, name: string, text: (value: T) => string): string[][] {
  return value === undefined ? [] : [[name, text(value)]];
}

/**
 * Formats the scores as a table.
 * @param because explanation of each score, from the header `hostplane-radar`: `cluster_health: explanation; ...`
 */
export function radarLines(radar: ClusterRadar, because: string): string[] {
  const words = new Map(
    because.split("; ").map((part) => {
      const [field = "", ...rest] = part.split(": ");
      return [field, rest.join(": ")];
    }),
  );
  const scores: readonly (readonly [string, number])[] = [
    ["cluster_health", radar.clusterHealth],
    ["nodes_health", radar.nodesHealth],
    ["capacity_available", radar.capacityAvailable],
    ["stability", radar.stability],
    ["reliability", radar.reliability],
  ];
  const rows = scores.map(([field, score]) => [
    field.replaceAll("_", " "),
    String(Number(score.toFixed(1))),
    printableLine(words.get(field) ?? ""),
  ]);
  return textTable(["SCORE", "OF 100", "COMPUTED FROM"], rows);
}

const kinds: Readonly<Record<CephPoolKind, string>> = {
  [CephPoolKind.UNSPECIFIED]: unknown,
  [CephPoolKind.REPLICATED]: "replicated",
  [CephPoolKind.ERASURE]: "erasure",
};

/** Formats one row per pool. */
export function poolLines(pools: readonly CephPool[]): string[] {
  const head = [
    "POOL",
    "KIND",
    "SIZE",
    "MIN",
    "PGS",
    "FAILURE DOMAIN",
    "STORED",
    "AVAILABLE",
    "OBJECTS",
    "APPLICATIONS",
  ];
  const rows = pools.map((pool) => [
    printableLine(pool.name),
    kinds[pool.kind] ?? unknown,
    String(pool.size),
    String(pool.minSize),
    String(pool.pgCount),
    pool.failureDomain || unknown,
    optional(pool.storedBytes, sizeText),
    optional(pool.availableBytes, sizeText),
    optional(pool.objectCount, String),
    printableLine(pool.applications.join(", ")),
  ]);
  return textTable(head, rows);
}

/** Formats one row per OSD. */
export function osdLines(osds: readonly CephOsd[]): string[] {
  const head = ["OSD", "STATE", "HOST", "CLASS", "REWEIGHT", "USED", "SIZE", "PGS"];
  const rows = osds.map((osd) => [
    String(osd.id),
    `${osd.up ? "up" : "down"}, ${osd.in ? "in" : "out"}`,
    printableLine(osd.host || unknown),
    printableLine(osd.deviceClass || unknown),
    String(osd.reweight),
    optional(osd.usedBytes, sizeText),
    optional(osd.totalBytes, sizeText),
    optional(osd.pgCount, String),
  ]);
  return textTable(head, rows);
}

/** Formats one row per crash. */
export function crashLines(crashes: readonly CephCrash[]): string[] {
  const rows = crashes.map(({ id, at, entity, host, archived, what }) =>
    [id, timeText(at), entity, host, archived ? "archived" : "new", what].map(printableLine),
  );
  return textTable(["ID", "AT", "DAEMON", "HOST", "STATE", "WHAT"], rows);
}

const statuses: Readonly<Record<ResourceStatus, string>> = {
  [ResourceStatus.RESOURCE_UNKNOWN]: "unknown",
  [ResourceStatus.RESOURCE_READY]: "ready",
  [ResourceStatus.RESOURCE_PROGRESSING]: "progressing",
  [ResourceStatus.RESOURCE_NOT_READY]: "not ready",
};

/** Formats one row per node. */
export function nodeLines(nodes: readonly NodeInfo[]): string[] {
  const rows = nodes.map(({ name, status, roles, internalIp, externalIp, age }) => [
    printableLine(name),
    statuses[status] ?? unknown,
    printableLine(roles.join(", ")),
    internalIp,
    externalIp,
    timeText(age),
  ]);
  return textTable(["NODE", "STATUS", "ROLES", "INTERNAL IP", "EXTERNAL IP", "SINCE"], rows);
}

const reliabilities: Readonly<Record<ReliabilityScore, string>> = {
  [ReliabilityScore.RELIABILITY_UNKNOWN]: "unknown",
  [ReliabilityScore.RELIABILITY_NONE]: "none",
  [ReliabilityScore.RELIABILITY_DEGRADED]: "degraded",
  [ReliabilityScore.RELIABILITY_OK]: "ok",
};

/** Formats one row per resource. */
export function resourceLines(resources: readonly ResourceInfo[]): string[] {
  const rows = resources.map(({ kind, namespace, name, status, replicas, reliability }) => [
    kind,
    namespace,
    name,
    statuses[status] ?? unknown,
    String(replicas),
    reliabilities[reliability] ?? unknown,
  ]);
  return textTable(["KIND", "NAMESPACE", "NAME", "STATUS", "REPLICAS", "RELIABILITY"], rows);
}

function optional<T>(value: T | undefined, text: (value: T) => string): string {
  return value === undefined ? unknown : text(value);
}

function timeText(time: Timestamp | undefined): string {
  return time === undefined ? "" : timestampDate(time).toISOString();
}
