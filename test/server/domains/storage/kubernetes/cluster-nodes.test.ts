import { test } from "tap";
import { sandboxState } from "../../../../../adapters/ceph/sandbox-cluster.ts";
import type { Manifest } from "../../../../../adapters/kubernetes/sandbox-cluster.ts";
import { ResourceStatus } from "../../../../../gen/resources/stats/stats_pb.ts";
import {
  clusterNodesFrom,
  storageNodeStatuses,
} from "../../../../../server/domains/storage/kubernetes/cluster-nodes.ts";
import { reasonOfCall } from "../../../../adapters/host/reason-of.ts";
import { changed, kubernetesState } from "../kubernetes-state.ts";

const { RESOURCE_READY, RESOURCE_NOT_READY, RESOURCE_UNKNOWN } = ResourceStatus;
const ceph = sandboxState(Date.now());

function withReady(node: Manifest, status: string | undefined): Manifest {
  const conditions = status === undefined ? [] : [{ type: "Ready", status }];
  return changed(node, { status: { conditions } });
}

test("nodes with daemons are listed with roles, addresses and creation time", async (t) => {
  const other: Manifest = {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "carries-nothing", creationTimestamp: "2026-01-01T00:00:00Z" },
  };
  const kubernetes = kubernetesState(({ nodes }) => ({ nodes: [other, ...nodes] }));
  const { nodes, missing } = clusterNodesFrom({ ok: kubernetes }, ceph);
  t.strictSame(missing, []);
  t.match(nodes, [
    {
      name: "sandbox-ceph-1",
      status: RESOURCE_READY,
      roles: ["control-plane"],
      internalIp: "192.0.2.1",
      externalIp: "",
      age: { seconds: BigInt(Date.UTC(2026, 0, 1) / 1_000) },
    },
    { name: "sandbox-ceph-2", roles: ["worker"] },
    { name: "sandbox-ceph-3" },
  ]);
  t.equal(nodes.length, 3);
});

test("a node without a creation time has no age", async (t) => {
  const kubernetes = kubernetesState(({ nodes: [first] }) => ({
    nodes: [{ ...(first as Manifest), metadata: { name: "sandbox-ceph-1" } }],
  }));
  t.equal(clusterNodesFrom({ ok: kubernetes }).nodes[0]?.age, undefined);
});

test("a node is ready only by its condition, and not ready when it is gone", async (t) => {
  const kubernetes = kubernetesState(({ nodes: [first, second] }) => ({
    nodes: [withReady(first as Manifest, "Unknown"), withReady(second as Manifest, undefined)],
  }));
  t.strictSame(
    clusterNodesFrom({ ok: kubernetes }).nodes.map(({ status }) => status),
    [RESOURCE_NOT_READY, RESOURCE_UNKNOWN, RESOURCE_NOT_READY],
  );
  t.strictSame(storageNodeStatuses({ ok: kubernetes }, ceph), {
    ok: {
      nodes: [
        { name: "sandbox-ceph-1", isReady: false },
        { name: "sandbox-ceph-2", isReady: false },
        { name: "sandbox-ceph-3", isReady: false },
      ],
      standInBecause: undefined,
    },
  });
});

test("without permission to read nodes their names are listed, and other fields are missing", async (t) => {
  const reason = "The account may not list nodes";
  const kubernetes = kubernetesState(undefined, { nodes: reason });
  const { nodes, missing } = clusterNodesFrom({ ok: kubernetes });
  t.strictSame(nodes[0], { name: "sandbox-ceph-1", status: RESOURCE_UNKNOWN });
  t.strictSame(
    missing.map(({ field }) => field),
    ["nodes.status", "nodes.roles", "nodes.internal_ip", "nodes.external_ip", "nodes.age"],
  );
  t.strictSame(storageNodeStatuses({ ok: kubernetes }), { missing: reason });
});

test("without Kubernetes, Ceph provides the hosts and the state of their daemons", async (t) => {
  const osds = "ok" in ceph.osds ? ceph.osds.ok : undefined;
  const downOnSecond = {
    ...ceph,
    osds: {
      ok: {
        ...(osds as NonNullable<typeof osds>),
        osds: (osds?.osds ?? []).map((osd) => ({ ...osd, isUp: osd.host !== "sandbox-ceph-2" })),
      },
    },
  };
  const { nodes, missing } = clusterNodesFrom(undefined, downOnSecond);
  t.strictSame(nodes, [
    { name: "sandbox-ceph-1", status: RESOURCE_READY },
    { name: "sandbox-ceph-2", status: RESOURCE_NOT_READY },
    { name: "sandbox-ceph-3", status: RESOURCE_READY },
  ]);
  t.match(missing, [
    { field: "nodes.roles", reason: /storage\.kubernetes/ },
    { field: "nodes.internal_ip" },
    { field: "nodes.external_ip" },
    { field: "nodes.age" },
  ]);
  t.match(storageNodeStatuses(undefined, downOnSecond), {
    ok: { nodes: [{ isReady: true }, { isReady: false }, {}], standInBecause: undefined },
  });
});

test("Ceph is the source if Kubernetes cannot provide the nodes, with the reason", async (t) => {
  const kubernetes = kubernetesState(undefined, { pods: "The account may not list pods in rook-ceph" });
  const { nodes, missing } = clusterNodesFrom({ ok: kubernetes }, ceph);
  t.equal(nodes.length, 3);
  t.match(missing[0], { field: "nodes.roles", reason: "The account may not list pods in rook-ceph" });
  t.equal(await reasonOfCall(() => clusterNodesFrom({ ok: kubernetes })), "FIGURE_UNAVAILABLE");
});

test("Ceph is the source if Kubernetes is unreachable, or if its namespace has no daemons", async (t) => {
  const empty = { ok: kubernetesState(() => ({ pods: [] })) };
  const cases = [
    [{ missing: "Kubernetes cannot be reached" }, /^Kubernetes cannot be reached$/],
    [empty, /no pod of a CephCluster runs in the namespace/],
  ] as const;
  for (const [kubernetes, reason] of cases) {
    const { nodes, missing } = clusterNodesFrom(kubernetes, ceph);
    t.match(nodes, [{ name: "sandbox-ceph-1", status: RESOURCE_READY }, {}, {}]);
    t.match(missing, [
      { field: "nodes.roles", reason },
      { reason },
      { reason },
      { field: "nodes.age", reason },
    ]);
    t.match(storageNodeStatuses(kubernetes, ceph), {
      ok: { nodes: [{ isReady: true }, {}, {}], standInBecause: reason },
    });
  }
  t.match(clusterNodesFrom(empty), { nodes: [], missing: [{ field: "nodes", reason: /no pod/ }] });
  t.match(storageNodeStatuses(empty), { missing: /no pod/ });
});

test("without Ceph and Kubernetes there are no nodes", async (t) => {
  t.equal(await reasonOfCall(() => clusterNodesFrom()), "DOMAIN_OFF");
  t.match(storageNodeStatuses(), { missing: String });
  const unknown = { ...ceph, hosts: { missing: "no manager is active" } };
  t.equal(await reasonOfCall(() => clusterNodesFrom(undefined, unknown)), "FIGURE_UNAVAILABLE");
});
