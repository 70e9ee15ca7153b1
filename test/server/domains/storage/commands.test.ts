import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { test } from "tap";
import {
  CephCrashSchema,
  CephOsdSchema,
  CephPoolKind,
  CephPoolSchema,
  ListCrashesResponseSchema,
  ListOsdsResponseSchema,
  ListPoolsResponseSchema,
} from "../../../../gen/hostplane/v1/storage_pb.ts";
import {
  ClusterRadarSchema,
  ClusterStatsSchema,
  NodeInfoSchema,
  ReliabilityScore,
  ResourceInfoSchema,
  ResourceStatus,
} from "../../../../gen/resources/stats/stats_pb.ts";
import {
  GetClusterNodesResponseSchema,
  GetClusterRadarResponseSchema,
  GetClusterResourcesResponseSchema,
  GetClusterStatsResponseSchema,
} from "../../../../gen/stats/stats_pb.ts";
import { storageNoun } from "../../../../server/domains/storage/commands.ts";
import { printed } from "../../cli/printed.ts";

const linesOf = async (...args: Parameters<typeof printed>) => (await printed(...args)).out;

const at = timestampFromMs(Date.UTC(2026, 0, 31, 10));

test("figures that could not be read are omitted instead of shown as 0", async (t) => {
  const whole = create(ClusterStatsSchema, {
    id: "f",
    status: "HEALTH_WARN",
    crashes: [{ description: "osd.1 crashed\non h1" }],
    services: {
      mon: { daemonCount: 3, quorum: "a,b" },
      mgr: { active: "a", standbys: ["b"] },
      mds: { daemonsUp: 1, hotStandbyCount: 1 },
      osd: { osdCount: 6, osdUp: 5, osdIn: 6 },
      rgw: { activeDaemon: 2, hostCount: 2, zoneCount: 1 },
    },
    data: {
      volumes: 16,
      pools: { pools: 4, pgs: { activeClean: 144 } },
      objects: { objectCount: 77_644, size: "300.00 GiB" },
      usage: { used: 3n << 30n, available: 5n << 30n, total: 8n << 30n },
    },
    iops: {
      clientRead: "853.00 B/s rd",
      clientWrite: "0.00 B/s wr",
      clientReadOps: "1 ops/s rd",
      clientWriteOps: "0 ops/s wr",
    },
  });
  t.strictSame(await linesOf(storageNoun, "stats", create(GetClusterStatsResponseSchema, { stats: whole })), [
    "FIGURE    VALUE",
    "cluster   f",
    "health    HEALTH_WARN",
    "crash     osd.1 crashed on h1",
    "monitors  3, in quorum a,b",
    "managers  a, standby b",
    "mds       1 up, 1 hot standbys",
    "osds      6, 5 up, 6 in",
    "rgws      2 on 2 hosts, 1 zones",
    "volumes   16",
    "pools     4, 144 PGs active+clean",
    "objects   77644, 300.00 GiB",
    "space     3 GiB used, 5 GiB free of 8 GiB",
    "clients   853.00 B/s rd, 0.00 B/s wr, 1 ops/s rd, 0 ops/s wr",
  ]);
  const bare = create(ClusterStatsSchema, {
    id: "f",
    status: "HEALTH_OK",
    services: { mgr: {} },
    data: { pools: { pools: 4 } },
  });
  const response = create(GetClusterStatsResponseSchema, { stats: bare });
  const header = { "hostplane-missing": "data.volumes, services.osd" };
  const { out, err } = await printed(storageNoun, "stats", response, { header });
  t.strictSame(out.slice(3), ["managers  none active", "pools     4"]);
  t.strictSame(err, ["could not be read: data.volumes, services.osd"]);
});

test("scores are shown with their explanation", async (t) => {
  const radar = create(ClusterRadarSchema, { clusterHealth: 85, nodesHealth: 66.666, stability: 100 });
  const because = "cluster_health: OSD_DOWN -15; nodes_health: 2 of 3 ready";
  const response = create(GetClusterRadarResponseSchema, { radar });
  const header = { "hostplane-radar": because };
  t.strictSame(await linesOf(storageNoun, "radar", response, { header }), [
    "SCORE               OF 100  COMPUTED FROM",
    "cluster health      85      OSD_DOWN -15",
    "nodes health        66.7    2 of 3 ready",
    "capacity available  0",
    "stability           100",
    "reliability         0",
  ]);
});

test("pools, OSDs and crashes are one line each", async (t) => {
  const pool = create(CephPoolSchema, {
    name: "images",
    kind: CephPoolKind.REPLICATED,
    size: 3,
    minSize: 2,
    pgCount: 64,
    failureDomain: "host",
    applications: ["rbd"],
    storedBytes: 1n << 30n,
    availableBytes: 2n << 30n,
    objectCount: 12n,
  });
  const pools = create(ListPoolsResponseSchema, { pools: [pool, create(CephPoolSchema, { name: "new" })] });
  t.strictSame(await linesOf(storageNoun, "pools", pools), [
    "POOL    KIND        SIZE  MIN  PGS  FAILURE DOMAIN  STORED  AVAILABLE  OBJECTS  APPLICATIONS",
    "images  replicated  3     2    64   host            1 GiB   2 GiB      12       rbd",
    "new     ?           0     0    0    ?               ?       ?          ?",
  ]);
  const osd = create(CephOsdSchema, {
    id: 3,
    up: true,
    in: true,
    host: "h1",
    deviceClass: "ssd",
    reweight: 1,
    usedBytes: 1n << 30n,
    totalBytes: 4n << 30n,
    pgCount: 33,
  });
  const osds = create(ListOsdsResponseSchema, { osds: [osd, create(CephOsdSchema, { id: 4 })] });
  t.strictSame(await linesOf(storageNoun, "osds", osds), [
    "OSD  STATE      HOST  CLASS  REWEIGHT  USED   SIZE   PGS",
    "3    up, in     h1    ssd    1         1 GiB  4 GiB  33",
    "4    down, out  ?     ?      0         ?      ?      ?",
  ]);
  const crash = create(CephCrashSchema, { id: "c1", entity: "osd.1", host: "h1", at, what: "bad\u001b[2J" });
  const { at: _at, ...rest } = crash;
  const crashes = create(ListCrashesResponseSchema, { crashes: [crash, { ...rest, archived: true }] });
  t.strictSame(await linesOf(storageNoun, "crashes", crashes), [
    "ID  AT                        DAEMON  HOST  STATE     WHAT",
    "c1  2026-01-31T10:00:00.000Z  osd.1   h1    new       bad\ufffd[2J",
    "c1                            osd.1   h1    archived  bad\ufffd[2J",
  ]);
});

test("nodes and resources are one line each", async (t) => {
  const node = create(NodeInfoSchema, {
    name: "n1",
    status: ResourceStatus.RESOURCE_READY,
    roles: ["control-plane", "worker"],
    internalIp: "10.0.0.1",
    age: at,
  });
  const nodes = create(GetClusterNodesResponseSchema, { nodes: [node] });
  t.strictSame(await linesOf(storageNoun, "nodes", nodes), [
    "NODE  STATUS  ROLES                  INTERNAL IP  EXTERNAL IP  SINCE",
    "n1    ready   control-plane, worker  10.0.0.1                  2026-01-31T10:00:00.000Z",
  ]);
  const resource = create(ResourceInfoSchema, {
    kind: "CephBlockPool",
    namespace: "rook-ceph",
    name: "images",
    status: ResourceStatus.RESOURCE_PROGRESSING,
    replicas: 3,
    reliability: ReliabilityScore.RELIABILITY_OK,
  });
  const resources = create(GetClusterResourcesResponseSchema, { resources: [resource] });
  t.strictSame(await linesOf(storageNoun, "resources", resources), [
    "KIND           NAMESPACE  NAME    STATUS       REPLICAS  RELIABILITY",
    "CephBlockPool  rook-ceph  images  progressing  3         ok",
  ]);
});
