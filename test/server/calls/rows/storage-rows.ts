import { answers, type Row, refuses } from "./row.ts";

/** Calls for the Ceph cluster, in an order in which each call finds its resources. */
export const storageRows: readonly Row[] = [
  answers(
    "stats.StatsService/GetClusterStats",
    {},
    {
      stats: {
        status: "HEALTH_OK",
        services: { mon: { daemonCount: 3, quorum: "a,b,c" }, mds: { hotStandbyCount: 1 } },
        data: {
          volumes: 16,
          pools: { pools: 4, pgs: { activeClean: 144 } },
          objects: { size: "300.00 GiB" },
        },
        iops: { clientRead: "853.00 B/s rd" },
      },
    },
  ),
  answers(
    "stats.StatsService/GetClusterRadar",
    {},
    {
      radar: {
        clusterHealth: 100,
        nodesHealth: 100,
        // A 32-bit float.
        capacityAvailable: /^85\.4/,
        stability: 100,
        reliability: 100,
      },
    },
  ),
  answers(
    "stats.StatsService/GetClusterNodes",
    {},
    { nodes: [{ name: "sandbox-ceph-1", status: "RESOURCE_READY", age: /Z$/ }, {}, {}] },
  ),
  answers(
    "stats.StatsService/GetClusterResources",
    {},
    { resources: [{ kind: "CephCluster", replicas: 3 }], deployments: [{ apiversion: "apps/v1" }] },
  ),
  answers("stats.StatsService/GetKoorCluster", {}, { koorCluster: { namespace: "rook-ceph" } }),
  answers("hostplane.v1.StorageService/WatchClusterStats", {}, { stats: {}, radar: {}, readAt: /Z$/ }),
  answers("hostplane.v1.StorageService/ListPools", {}, { pools: [{ name: "cephfs.data" }, {}, {}, {}] }),
  answers("hostplane.v1.StorageService/ListOsds", {}, { osds: [{ up: true, in: true }, { id: 1 }] }),
  answers("hostplane.v1.StorageService/ListCrashes", {}, {}),
  refuses("hostplane.v1.StorageService/ArchiveCrash", {}, "INVALID_ARGUMENT", "INVALID_FIELD", "id"),
  refuses("hostplane.v1.StorageService/ArchiveCrash", { id: "none" }, "NOT_FOUND", "CRASH_NOT_FOUND"),
];
