import { test } from "tap";
import type { Manifest, Manifests } from "../../../../../adapters/kubernetes/sandbox-cluster.ts";
import { ReliabilityScore, ResourceStatus } from "../../../../../gen/resources/stats/stats_pb.ts";
import { clusterResourcesFrom } from "../../../../../server/domains/storage/kubernetes/cluster-resources.ts";
import { reasonOfCall } from "../../../../adapters/host/reason-of.ts";
import { changed, kubernetesState } from "../kubernetes-state.ts";

const { RESOURCE_READY, RESOURCE_PROGRESSING, RESOURCE_NOT_READY, RESOURCE_UNKNOWN } = ResourceStatus;
const { RELIABILITY_NONE, RELIABILITY_DEGRADED, RELIABILITY_OK, RELIABILITY_UNKNOWN } = ReliabilityScore;

type Change = (manifests: Manifests) => Partial<Manifests>;

function resourceOf(kind: string, change?: Change) {
  return clusterResourcesFrom(kubernetesState(change)).resources.find((each) => each.kind === kind);
}

function deploymentOf(name: string, change?: Change) {
  return clusterResourcesFrom(kubernetesState(change)).deployments.find((each) => each.name === name);
}

/** Returns a change of all Deployments whose name begins with `prefix`, and of their pods. */
function withDaemons(prefix: string, status: object, isReady = true): Change {
  return ({ deployments, pods }) => ({
    deployments: deployments.map((each) =>
      each.metadata.name.startsWith(prefix) ? changed(each, { status }) : each,
    ),
    pods: pods.map((each) =>
      each.metadata.name.startsWith(prefix)
        ? changed(each, { status: { conditions: [{ type: "Ready", status: isReady ? "True" : "False" }] } })
        : each,
    ),
  });
}

const down = { readyReplicas: 0, availableReplicas: 0 };

function withoutNodes(...names: readonly string[]): Change {
  return ({ pods }) => ({
    pods: pods.filter(({ spec }) => !names.includes((spec as { nodeName: string }).nodeName)),
  });
}

test("resources are in the order of the contract, with their desired replicas", async (t) => {
  const { resources, deployments, missing, clamped } = clusterResourcesFrom(kubernetesState());
  const common = {
    apiversion: "ceph.rook.io/v1",
    namespace: "rook-ceph",
    status: RESOURCE_READY,
    reliability: RELIABILITY_OK,
  };
  t.strictSame(resources, [
    { ...common, kind: "CephCluster", name: "rook-ceph", replicas: 3 },
    { ...common, kind: "CephBlockPool", name: "images", replicas: 3 },
    { ...common, kind: "CephFilesystem", name: "cephfs", replicas: 2 },
    { ...common, kind: "CephObjectStore", name: "default", replicas: 2 },
  ]);
  t.strictSame(deployments[0], {
    apiversion: "apps/v1",
    kind: "Deployment",
    namespace: "rook-ceph",
    name: "rook-ceph-mds-cephfs-a",
    status: RESOURCE_READY,
    replicas: 1,
    reliability: RELIABILITY_OK,
  });
  t.equal(deployments.length, 15);
  t.strictSame([missing, clamped], [[], []]);
});

test("Rook's phases are mapped to a status, and other words to unknown", async (t) => {
  const statuses = {
    Ready: RESOURCE_READY,
    Progressing: RESOURCE_PROGRESSING,
    Failure: RESOURCE_NOT_READY,
    ReconcileFailed: RESOURCE_NOT_READY,
    Deleting: RESOURCE_NOT_READY,
    "": RESOURCE_UNKNOWN,
    toString: RESOURCE_UNKNOWN,
  };
  for (const [phase, status] of Object.entries(statuses)) {
    const pool = resourceOf("CephBlockPool", ({ blockPools: [seed] }) => ({
      blockPools: [changed(seed as Manifest, { status: { phase } })],
    }));
    t.equal(pool?.status, status, phase);
  }
  for (const [state, status] of [
    ["Creating", RESOURCE_PROGRESSING],
    ["Updating", RESOURCE_PROGRESSING],
    ["Connected", RESOURCE_READY],
    ["Error", RESOURCE_NOT_READY],
  ] as const) {
    const cluster = resourceOf("CephCluster", ({ cephClusters: [seed] }) => ({
      cephClusters: [changed(seed as Manifest, { status: { state } })],
    }));
    t.equal(cluster?.status, status, state);
  }
});

test("an object with a new spec is progressing, and one being deleted is not ready", async (t) => {
  const requested = resourceOf("CephBlockPool", ({ blockPools: [seed] }) => ({
    blockPools: [{ ...(seed as Manifest), metadata: { ...(seed as Manifest).metadata, generation: 2 } }],
  }));
  t.equal(requested?.status, RESOURCE_PROGRESSING);
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  const leaving = resourceOf("CephBlockPool", ({ blockPools: [seed] }) => ({
    blockPools: [{ ...(seed as Manifest), metadata: { ...(seed as Manifest).metadata, deletionTimestamp } }],
  }));
  t.equal(leaving?.status, RESOURCE_NOT_READY);
});

test("a Deployment is ready, progressing or not ready according to its rollout", async (t) => {
  const name = "rook-ceph-mgr-a";
  const rolling = [{ type: "Progressing", status: "True", reason: "ReplicaSetUpdated" }];
  const stuck = [{ type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded" }];
  const cases = [
    [{}, RESOURCE_READY],
    [down, RESOURCE_NOT_READY],
    [{ ...down, conditions: rolling }, RESOURCE_PROGRESSING],
    [{ updatedReplicas: 0, conditions: rolling }, RESOURCE_PROGRESSING],
    [{ ...down, conditions: stuck }, RESOURCE_NOT_READY],
    [{ observedGeneration: 0 }, RESOURCE_PROGRESSING],
  ] as const;
  for (const [status, expected] of cases) {
    t.equal(deploymentOf(name, withDaemons(name, status))?.status, expected, JSON.stringify(status));
  }
});

test("daemons are reliable if one of them, or a quorum of monitors, survives the loss of a node", async (t) => {
  const mgr = (change?: Change) => deploymentOf("rook-ceph-mgr-b", change)?.reliability;
  t.equal(mgr(), RELIABILITY_OK);
  t.equal(mgr(withDaemons("rook-ceph-mgr-a", down, false)), RELIABILITY_NONE, "only one is left");
  const osd = (change?: Change) => deploymentOf("rook-ceph-osd-5", change)?.reliability;
  t.equal(osd(withDaemons("rook-ceph-osd-0", down, false)), RELIABILITY_DEGRADED, "others are left");
  const mon = (change?: Change) => resourceOf("CephCluster", change)?.reliability;
  t.equal(
    mon(withDaemons("rook-ceph-mon-a", down, false)),
    RELIABILITY_NONE,
    "with two of three, none may fail",
  );
  const onOne: Change = ({ pods }) => ({
    pods: pods.map((each) =>
      each.metadata.name.startsWith("rook-ceph-mgr")
        ? changed(each, { spec: { nodeName: "sandbox-ceph-1" } })
        : each,
    ),
  });
  t.equal(mgr(onOne), RELIABILITY_NONE, "both are lost with their node");
});

test("a Deployment that is not a daemon is scored alone", async (t) => {
  const labels = { app: "rook-ceph-operator" };
  const operator: Change = ({ deployments: [seed] }) => ({
    deployments: [{ ...(seed as Manifest), metadata: { name: "rook-ceph-operator", labels } }],
    pods: [],
  });
  t.match(deploymentOf("rook-ceph-operator", operator), { replicas: 1, reliability: RELIABILITY_NONE });
  const none: Change = ({ deployments: [seed] }) => ({
    deployments: [changed(seed as Manifest, { spec: { replicas: 0 } })],
  });
  t.match(deploymentOf("rook-ceph-mon-a", none), {
    status: RESOURCE_READY,
    replicas: 0,
    reliability: RELIABILITY_UNKNOWN,
  });
});

test("a pool is as reliable as its copies and failure domains allow", async (t) => {
  const pool = (spec: object, others: Change = () => ({})) =>
    resourceOf("CephBlockPool", (manifests) => ({
      ...others(manifests),
      blockPools: [{ ...(manifests.blockPools[0] as Manifest), spec }],
    }));
  const copies = (size: number, failureDomain?: string) => ({ failureDomain, replicated: { size } });
  t.match(pool(copies(1)), { replicas: 1, reliability: RELIABILITY_NONE });
  t.match(pool(copies(2)), { replicas: 2, reliability: RELIABILITY_DEGRADED });
  t.match(pool(copies(3)), { replicas: 3, reliability: RELIABILITY_OK });
  t.match(pool(copies(3, "zone")), { reliability: RELIABILITY_OK });
  t.match(pool(copies(3, "constructor")), { reliability: RELIABILITY_UNKNOWN });
  t.match(pool(copies(3, "rack")), { reliability: RELIABILITY_UNKNOWN }, "no node has a rack");
  t.match(pool(copies(3, "osd")), { reliability: RELIABILITY_DEGRADED }, "all copies may be on one host");
  t.match(pool(copies(4)), { reliability: RELIABILITY_DEGRADED }, "more copies than hosts");
  const one = withoutNodes("sandbox-ceph-1", "sandbox-ceph-2");
  t.match(pool(copies(3), one), { reliability: RELIABILITY_NONE }, "one host is left");
  t.match(pool(copies(3), withoutNodes("sandbox-ceph-1")), { reliability: RELIABILITY_DEGRADED });
  const erasure = (dataChunks: number, codingChunks: number) => ({
    erasureCoded: { dataChunks, codingChunks },
  });
  t.match(pool(erasure(2, 1)), { replicas: 3, reliability: RELIABILITY_DEGRADED });
  t.match(pool(erasure(1, 2)), { replicas: 3, reliability: RELIABILITY_OK });
  t.match(
    pool(erasure(4, 2)),
    { replicas: 6, reliability: RELIABILITY_NONE },
    "3 hosts cannot hold 4 chunks",
  );
  t.match(pool({}), { replicas: undefined, reliability: RELIABILITY_UNKNOWN });
});

test("a file system scores as its worst pool or server", async (t) => {
  t.equal(
    resourceOf("CephFilesystem", withDaemons("rook-ceph-mds-cephfs-a", down, false))?.reliability,
    RELIABILITY_NONE,
  );
  const withBadPool: Change = ({ filesystems: [seed] }) => ({
    filesystems: [changed(seed as Manifest, { spec: { dataPools: [{ replicated: { size: 2 } }] } })],
  });
  t.equal(resourceOf("CephFilesystem", withBadPool)?.reliability, RELIABILITY_DEGRADED);
});

test("only unreadable parts are missing, and what depends on them is unknown", async (t) => {
  const denied = "The account may not list pods in rook-ceph";
  const withoutPods = clusterResourcesFrom(kubernetesState(undefined, { pods: denied }));
  t.ok(withoutPods.deployments.every(({ reliability }) => reliability === RELIABILITY_UNKNOWN));
  const absent = "The cluster has no cephobjectstores.ceph.rook.io in rook-ceph";
  const { resources, deployments, missing } = clusterResourcesFrom(
    kubernetesState(undefined, { objectStores: absent, deployments: "denied" }),
  );
  t.equal(resources.length, 3);
  t.equal(deployments.length, 0);
  t.strictSame(missing, [
    { field: "resources.CephObjectStore", reason: absent },
    { field: "deployments", reason: "denied" },
  ]);
  t.equal(resources[0]?.reliability, RELIABILITY_UNKNOWN, "depends on unknown Deployments");
});

test("the replicas of an object without a count are missing", async (t) => {
  const { resources, missing } = clusterResourcesFrom(
    kubernetesState(({ cephClusters: [cluster], blockPools: [pool] }) => ({
      cephClusters: [changed(cluster as Manifest, { spec: { external: { enable: true }, mon: undefined } })],
      blockPools: [{ ...(pool as Manifest), spec: {} }],
    })),
  );
  t.match(
    resources.map(({ kind, replicas }) => [kind, replicas]),
    [
      ["CephCluster", undefined],
      ["CephBlockPool", undefined],
      ["CephFilesystem", 2],
      ["CephObjectStore", 2],
    ],
  );
  t.strictSame(missing, [
    {
      field: "resources.replicas",
      reason: "CephCluster rook-ceph and CephBlockPool images do not state a replica count",
    },
  ]);
});

test("without any readable part the call fails", async (t) => {
  const kinds = ["cephClusters", "blockPools", "filesystems", "objectStores", "deployments"] as const;
  const nothing = kubernetesState(undefined, Object.fromEntries(kinds.map((kind) => [kind, "denied"])));
  t.equal(await reasonOfCall(() => clusterResourcesFrom(nothing)), "FIGURE_UNAVAILABLE");
});

test("a count beyond int32 is clamped and listed", async (t) => {
  const { resources, clamped } = clusterResourcesFrom(
    kubernetesState(({ objectStores: [seed] }) => ({
      objectStores: [changed(seed as Manifest, { spec: { gateway: { instances: 2 ** 40 } } })],
    })),
  );
  t.equal(resources.at(-1)?.replicas, 2 ** 31 - 1);
  t.strictSame(clamped, ["resources.replicas"]);
});
