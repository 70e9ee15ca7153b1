import { test } from "tap";
import { Cluster, ClusterStatus } from "../../../../gen/cnct/kaas/api/api_pb.ts";
import { openClusterSecrets } from "../../../../server/domains/clusters/access/cluster-secrets.ts";
import { imagesOf, noMaas, startClusters } from "./clusters-under-test.ts";

const { createCluster, getCluster, getClusterList, deleteCluster, getVersionInformation } = Cluster.method;

const small = {
  name: "prod",
  k8sVersion: "v1.35.4",
  controlPlaneNodes: { instanceType: "standard", count: 1 },
};

test("a cluster is stored as requested, with its own keys, and is reported as provisioning", async (t) => {
  const { call, store, seal } = await startClusters(t);
  const labels = [{ name: "example.com/tier", value: "gold" }];
  const answer = await call(createCluster, {
    ...small,
    controlPlaneNodes: { instanceType: "standard", count: 3, labels },
    workerNodePools: [
      { name: "work", instanceType: "standard", count: 2, labels },
      { name: "render", instanceType: "gpu", count: 1 },
    ],
  });
  t.match(answer, {
    ok: true,
    cluster: { name: "prod", status: ClusterStatus.PROVISIONING, statusMessage: "" },
  });
  const found = await store.run("clusters.get", { name: "prod" });
  t.match(found?.cluster, {
    backend: noMaas.url,
    k8sVersion: "1.35.4",
    controlPlaneVersion: "1.35.4",
    controlPlane: { instanceType: "standard", count: 3, labels },
    pools: [
      { name: "work", instanceType: "standard", count: 2, labels },
      { name: "render", instanceType: "gpu", count: 1, labels: [] },
    ],
    endpoint: "10.20.0.220",
    actor: "user/alice",
    generation: 1,
    isDeleting: false,
  });
  t.same(found?.slots, [], "machines are left to the reconciler");
  const secrets = await store.run("clusters.secrets", { name: "prod" });
  const { pki, firstToken } = openClusterSecrets(
    seal,
    secrets?.uid ?? "",
    secrets?.secretsSealed ?? new Uint8Array(),
  );
  t.match(pki.kubernetesCa.certificatePem, /BEGIN CERTIFICATE/);
  t.ok(firstToken.expiresAt.getTime() > Date.now() + 120_000);
});

test("GetCluster returns a kubeconfig right away; the list contains none", async (t) => {
  const { call, settle } = await startClusters(t);
  await call(createCluster, small);
  const { ok, cluster } = await call(getCluster, { name: "prod" });
  t.equal(ok, true);
  t.match(cluster, { name: "prod", status: ClusterStatus.PROVISIONING });
  t.match(cluster?.kubeconfig, /server: "https:\/\/10\.20\.0\.220:6443/);
  await settle("all is well");
  t.match(await call(getClusterList, {}), {
    ok: true,
    clusters: [{ name: "prod", status: ClusterStatus.RUNNING, statusMessage: "all is well" }],
  });
});

test("an empty list is a list", async (t) => {
  const { call } = await startClusters(t);
  t.match(await call(getClusterList, {}), { ok: true, clusters: [] });
});

test("a name is in use until its cluster is gone, also while the cluster is being deleted", async (t) => {
  const { call } = await startClusters(t);
  await call(createCluster, small);
  await t.rejects(call(createCluster, small), {
    name: "InfraError",
    reason: "CLUSTER_EXISTS",
    code: "ALREADY_EXISTS",
  });
  t.match(await call(deleteCluster, { name: "prod" }), { ok: true, status: "Deleting" });
  await t.rejects(call(createCluster, small), { name: "InfraError", reason: "CLUSTER_EXISTS" });
  t.match(await call(getCluster, { name: "prod" }), { cluster: { status: ClusterStatus.STOPPING } });
});

test("deleting a cluster again while it is being deleted succeeds; deleting a missing one fails", async (t) => {
  const { call, store } = await startClusters(t);
  await call(createCluster, small);
  await call(deleteCluster, { name: "prod" });
  const { cluster } = (await store.run("clusters.get", { name: "prod" })) ?? {};
  t.match(await call(deleteCluster, { name: "prod" }), { ok: true, status: "Deleting" });
  const again = await store.run("clusters.get", { name: "prod" });
  t.equal(again?.cluster.generation, cluster?.generation, "nothing was written again");
  const gone = {
    name: "InfraError",
    reason: "CLUSTER_NOT_FOUND",
    code: "NOT_FOUND",
    resource: "clusters/none",
  };
  await t.rejects(call(deleteCluster, { name: "none" }), gone);
  await t.rejects(call(getCluster, { name: "none" }), gone);
});

test("invalid requests are rejected with the field", async (t) => {
  const { call, everything } = await startClusters(t);
  const pool = { name: "work", instanceType: "standard", count: 1 };
  const cases: readonly (readonly [Parameters<typeof call<typeof createCluster>>[1], string])[] = [
    [{ ...small, name: "" }, "name"],
    [{ ...small, name: "Prod" }, "name"],
    [{ ...small, name: "p".repeat(41) }, "name"],
    [{ ...small, k8sVersion: "" }, "k8s_version"],
    [{ ...small, k8sVersion: "latest" }, "k8s_version"],
    [{ ...small, k8sVersion: "1.35.5" }, "k8s_version"],
    [{ name: "prod", k8sVersion: "1.35.4" }, "control_plane_nodes"],
    [{ ...small, controlPlaneNodes: { instanceType: "standard" } }, "control_plane_nodes.count"],
    [{ ...small, controlPlaneNodes: { instanceType: "standard", count: 2 } }, "control_plane_nodes.count"],
    [{ ...small, controlPlaneNodes: { instanceType: "huge", count: 1 } }, "control_plane_nodes.instanceType"],
    [
      { ...small, controlPlaneNodes: { ...small.controlPlaneNodes, labels: [{ name: "" }] } },
      "control_plane_nodes.labels[0].name",
    ],
    [{ ...small, workerNodePools: [{ ...pool, name: "" }] }, "worker_node_pools[0].name"],
    [{ ...small, workerNodePools: [{ ...pool, name: "control-plane" }] }, "worker_node_pools[0].name"],
    [{ ...small, workerNodePools: [pool, { ...pool, instanceType: "gpu" }] }, "worker_node_pools[1].name"],
    [{ ...small, workerNodePools: [{ ...pool, instanceType: "" }] }, "worker_node_pools[0].instanceType"],
    [{ ...small, workerNodePools: [{ ...pool, count: -1 }] }, "worker_node_pools[0].count"],
    [{ ...small, workerNodePools: [{ ...pool, count: 5_000 }] }, "worker_node_pools"],
    [
      {
        ...small,
        workerNodePools: [{ ...pool, labels: [{ name: "node-role.kubernetes.io/worker", value: "" }] }],
      },
      "worker_node_pools[0].labels[0].name",
    ],
    [
      {
        ...small,
        workerNodePools: Array.from({ length: 101 }, (_, index) => ({ ...pool, name: `p${index}` })),
      },
      "worker_node_pools",
    ],
  ];
  for (const [input, field] of cases) {
    const refusal = {
      name: "InfraError",
      reason: "INVALID_FIELD",
      code: "INVALID_ARGUMENT",
      violations: [{ field }],
    };
    await t.rejects(call(createCluster, input), refusal, field);
  }
  await t.rejects(call(createCluster, { ...small, workerNodePools: [{ ...pool, count: 0 }] }), {
    name: "InfraError",
    reason: "SCALE_TO_ZERO",
    code: "INVALID_ARGUMENT",
    violations: [{ field: "worker_node_pools[0].count", description: /DeleteNodePool/ }],
  });
  t.ok((await everything()) === "[[],[]]", "nothing was written");
});

test("a control plane of three needs an endpoint, and each cluster gets its own", async (t) => {
  const without = await startClusters(t, { settings: { endpoints: [] } });
  await t.rejects(
    without.call(createCluster, { ...small, controlPlaneNodes: { instanceType: "standard", count: 3 } }),
    {
      name: "InfraError",
      reason: "CLUSTER_ENDPOINT_MISSING",
      code: "FAILED_PRECONDITION",
      message: /clusters\.endpoint/,
    },
  );
  await without.call(createCluster, small);
  t.match(await without.call(getCluster, { name: "prod" }), { cluster: { kubeconfig: "" } });

  const { call, clusters } = await startClusters(t);
  await call(createCluster, small);
  await call(createCluster, { ...small, name: "test" });
  t.match(await call(getCluster, { name: "test" }), { cluster: { kubeconfig: /10\.20\.0\.221:6443/ } });
  await t.rejects(call(createCluster, { ...small, name: "third" }), {
    name: "InfraError",
    reason: "NO_ENDPOINT",
    code: "RESOURCE_EXHAUSTED",
  });
  t.equal((await clusters.list()).length, 2);
});

test("the control plane has the workers' version, or the next newer one with an image for its machines", async (t) => {
  const images = imagesOf(["1.34.8", "standard"], ["1.35.4", "gpu"], ["1.36.3", "gpu", "standard"]);
  const { call, store } = await startClusters(t, { images });
  const workerNodePools = [{ name: "work", instanceType: "standard", count: 1 }];
  const controlPlaneNodes = { instanceType: "gpu", count: 1 };
  await call(createCluster, { ...small, k8sVersion: "1.34.8", controlPlaneNodes, workerNodePools });
  const found = await store.run("clusters.get", { name: "prod" });
  t.match(found?.cluster, { k8sVersion: "1.34.8", controlPlaneVersion: "1.35.4" });
  await t.rejects(call(createCluster, { ...small, name: "test", workerNodePools }), {
    name: "InfraError",
    violations: [
      {
        field: "k8s_version",
        description: /no Kubernetes 1\.35\.4 image for standard .* 1\.34\.8, 1\.36\.3/,
      },
    ],
  });
  const newest = { ...small, k8sVersion: "1.37.0", name: "test" };
  await t.rejects(call(createCluster, newest), {
    name: "InfraError",
    violations: [{ field: "k8s_version", description: /1\.37\.0/ }],
  });
});

test("a cluster can be created while MAAS is unavailable or slow", async (t) => {
  const failing = { read: () => Promise.reject(new Error("away")) };
  const { call, store } = await startClusters(t, { images: failing });
  await call(createCluster, { ...small, k8sVersion: "1.40.0" });
  t.match(await store.run("clusters.get", { name: "prod" }), {
    cluster: { k8sVersion: "1.40.0", controlPlaneVersion: "1.40.0" },
  });

  const slow = await startClusters(t, { images: { read: () => new Promise(() => {}) } });
  const beganMs = performance.now();
  await slow.call(createCluster, small);
  t.ok(performance.now() - beganMs < 20_000);
});

test("a cluster of another MAAS is reported with a message, and not changed", async (t) => {
  const { call, store } = await startClusters(t);
  await call(createCluster, small);
  const elsewhere = { ...noMaas, url: "http://other.invalid/MAAS" };
  const other = await startClusters(t, { store, maas: elsewhere });
  const message = /its machines belong to the MAAS at http:\/\/maas\.invalid\/MAAS/;
  t.match(await other.call(getClusterList, {}), { clusters: [{ statusMessage: message }] });
  await t.rejects(other.call(deleteCluster, { name: "prod" }), {
    name: "InfraError",
    reason: "CLUSTER_OF_OTHER_MAAS",
    code: "FAILED_PRECONDITION",
    message,
  });
});

test("the version information shows what the gateway runs on and was built with", async (t) => {
  const { call } = await startClusters(t);
  t.match(await call(getVersionInformation, {}), {
    ok: true,
    versionInformation: {
      gitVersion: "1.2.3",
      gitCommit: "",
      goVersion: `node ${process.versions.node}`,
      compiler: /^TypeScript \d+\.\d+\.\d+$/,
      platform: /^\w+\/(amd64|arm64)$/,
    },
  });
  t.equal(await call(getVersionInformation, {}), await call(getVersionInformation, {}), "it is read once");
});

test("an existing cluster is reported before what a new one would lack, and without MAAS", async (t) => {
  let images = imagesOf("1.35.4");
  const { call } = await startClusters(t, { images: { read: () => images.read() } });
  await call(createCluster, small);
  images = imagesOf();
  const exists = { name: "InfraError", reason: "CLUSTER_EXISTS" };
  await t.rejects(call(createCluster, small), exists, "also when its image was removed");
  let isRequested = false;
  images = {
    async read() {
      isRequested = true;
      throw new Error("away");
    },
  };
  await t.rejects(call(createCluster, small), exists);
  t.notOk(isRequested);
  await t.rejects(
    call(createCluster, { ...small, controlPlaneNodes: { instanceType: "standard", count: 5 } }),
    exists,
  );
});
