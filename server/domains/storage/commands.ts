import {
  CephCrashSchema,
  CephOsdSchema,
  CephPoolKind,
  CephPoolKindSchema,
  CephPoolSchema,
  StorageService,
} from "../../../gen/hostplane/v1/storage_pb.ts";
import {
  ClusterRadarSchema,
  ClusterStatsSchema,
  KoorClusterSchema,
  NodeInfoSchema,
  ReliabilityScore,
  ResourceInfoSchema,
  ResourceStatus,
} from "../../../gen/resources/stats/stats_pb.ts";
import { StatsService } from "../../../gen/stats/stats_pb.ts";
import { change, list, type Noun, show, watch } from "../../cli/table/command.ts";
import { enumText } from "../../cli/table/enum-text.ts";
import { argument, flag, nameOf } from "../../cli/table/parameter.ts";
import type { Reference } from "../../cli/table/reference.ts";
import { sizeText } from "../../cli/table/size-text.ts";
import { watchResources } from "../../cli/table/watch-resources.ts";
import { koorFacts, radarRows, statsRows, statsSummary } from "./cli/figures-text.ts";

/** Placeholder for an unknown value. */
const unknown = "?";

const crashes: Reference = {
  noun: "storage",
  // Ceph makes them of the time and a UUID.
  fullId: /^\d{4}-\S+_[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/,
  async list(session) {
    const { message } = await session.call(StorageService.method.listCrashes, {});
    return message.crashes.map(({ id }) => ({ id, names: [] }));
  },
};

/** A Ceph cluster and what runs it. */
export const storageNoun: Noun = {
  reference: crashes,
  commands: [
    show({
      name: "stats",
      summary: "show the Ceph cluster's health, daemons, data and traffic",
      method: StatsService.method.getClusterStats,
      schema: ClusterStatsSchema,
      item: (response) => response.stats,
      view: (item, { missing }) => ({
        tables: [{ head: ["FIGURE", "VALUE"], rows: statsRows(item, missing) }],
      }),
      watch: watch({
        method: StorageService.method.watchClusterStats,
        createLines:
          () =>
          ({ stats, staleBecause }) =>
            stats === undefined ? [] : [statsSummary(stats, staleBecause)],
      }),
    }),
    show({
      name: "radar",
      summary: "show the cluster's five scores from 0 to 100, and how each was computed",
      method: StatsService.method.getClusterRadar,
      schema: ClusterRadarSchema,
      item: (response) => response.radar,
      id: () => "radar",
      view: (item, { header }) => ({
        tables: [
          {
            head: ["SCORE", "OF 100", "COMPUTED FROM"],
            rows: radarRows(item, header.get("hostplane-radar") ?? ""),
          },
        ],
      }),
    }),
    list({
      name: "pools",
      summary: "list the pools",
      method: StorageService.method.listPools,
      schema: CephPoolSchema,
      items: (response) => response.pools,
      columns: {
        POOL: "name",
        KIND: (item) =>
          item.kind === CephPoolKind.UNSPECIFIED ? unknown : enumText(CephPoolKindSchema, item.kind),
        SIZE: "size",
        MIN: "minSize",
        PGS: "pgCount",
        "FAILURE DOMAIN": (item) => item.failureDomain || unknown,
        STORED: (item) => optional(item.storedBytes, sizeText),
        AVAILABLE: (item) => optional(item.availableBytes, sizeText),
        OBJECTS: (item) => optional(item.objectCount, String),
        APPLICATIONS: "applications",
      },
      id: (item) => item.name,
      watch: watchResources("cephPool"),
    }),
    list({
      name: "osds",
      summary: "list the OSDs",
      method: StorageService.method.listOsds,
      schema: CephOsdSchema,
      items: (response) => response.osds,
      columns: {
        OSD: "id",
        STATE: (item) => `${item.up ? "up" : "down"}, ${item.in ? "in" : "out"}`,
        HOST: (item) => item.host || unknown,
        CLASS: (item) => item.deviceClass || unknown,
        REWEIGHT: "reweight",
        USED: (item) => optional(item.usedBytes, sizeText),
        SIZE: (item) => optional(item.totalBytes, sizeText),
        PGS: (item) => optional(item.pgCount, String),
      },
      watch: watchResources("osd"),
    }),
    list({
      name: "crashes",
      summary: "list the crashes that daemons have reported, newest first",
      parameters: { archived: flag("include archived crashes") },
      method: StorageService.method.listCrashes,
      schema: CephCrashSchema,
      items: (response) => response.crashes,
      columns: {
        ID: "id",
        AT: "at",
        DAEMON: "entity",
        HOST: "host",
        STATE: (item) => (item.archived ? "archived" : "new"),
        WHAT: "what",
      },
    }),
    change({
      name: "archive-crash",
      summary: "archive a crash",
      parameters: { id: argument("id of the crash, or a prefix of it", nameOf("id", crashes)) },
      method: StorageService.method.archiveCrash,
      done: ({ crash }, values) => `archived the crash ${values.id} of ${crash?.entity ?? unknown}`,
    }),
    list({
      name: "nodes",
      summary: "list the nodes of the Ceph cluster",
      method: StatsService.method.getClusterNodes,
      schema: NodeInfoSchema,
      items: (response) => response.nodes,
      columns: {
        NODE: "name",
        STATUS: (item) => statuses[item.status] ?? unknown,
        ROLES: "roles",
        "INTERNAL IP": "internalIp",
        "EXTERNAL IP": "externalIp",
        SINCE: "age",
      },
    }),
    list({
      name: "resources",
      summary: "list Rook's resources and Deployments in Kubernetes",
      method: StatsService.method.getClusterResources,
      schema: ResourceInfoSchema,
      items: (response) => [...response.resources, ...response.deployments],
      columns: {
        KIND: "kind",
        NAMESPACE: "namespace",
        NAME: "name",
        STATUS: (item) => statuses[item.status] ?? unknown,
        REPLICAS: "replicas",
        RELIABILITY: (item) => reliabilities[item.reliability] ?? unknown,
      },
      id: (item) => `${item.kind}/${item.namespace}/${item.name}`,
    }),
    show({
      name: "koor",
      summary: "show the KoorCluster's spec and status",
      method: StatsService.method.getKoorCluster,
      schema: KoorClusterSchema,
      item: (response) => response.koorCluster,
      view: (item) => ({ tables: [{ head: ["KOOR", "VALUE"], rows: koorFacts(item) }] }),
    }),
  ],
};

const statuses: Readonly<Record<ResourceStatus, string>> = {
  [ResourceStatus.RESOURCE_UNKNOWN]: "unknown",
  [ResourceStatus.RESOURCE_READY]: "ready",
  [ResourceStatus.RESOURCE_PROGRESSING]: "progressing",
  [ResourceStatus.RESOURCE_NOT_READY]: "not ready",
};

const reliabilities: Readonly<Record<ReliabilityScore, string>> = {
  [ReliabilityScore.RELIABILITY_UNKNOWN]: "unknown",
  [ReliabilityScore.RELIABILITY_NONE]: "none",
  [ReliabilityScore.RELIABILITY_DEGRADED]: "degraded",
  [ReliabilityScore.RELIABILITY_OK]: "ok",
};

function optional<Value>(value: Value | undefined, text: (value: Value) => string): string {
  return value === undefined ? unknown : text(value);
}
