import fc from "fast-check";
import { test } from "tap";
import { Cluster } from "../../../../gen/cnct/kaas/api/api_pb.ts";
import { ClusterService } from "../../../../gen/hostplane/v1/cluster_pb.ts";
import { errorOf } from "../auth/auth-under-test.ts";
import { startClusters } from "./clusters-under-test.ts";

const { createCluster, addNodePool, deleteNodePool, scaleNodePool, upgradeCluster } = Cluster.method;

/** Characters and texts with a special meaning in YAML, shells, paths, URLs, SQL or terminals. */
const metacharacters = [
  ..."\"'`$(){}[]<>|&;:#!?*%@=,\\/~^+ \t\n\r\0\u001b\u007f\u0085\u2028\ufeff",
  "..",
  "$(id)",
  "%0a",
  "é",
  "\u{1f600}",
];

const tame = fc.stringMatching(/^[a-z0-9]{0,12}$/);
const hostile = fc
  .tuple(tame, fc.constantFrom(...metacharacters), tame)
  .map(([before, character, after]) => `${before}${character}${after}`);
/** Excludes slashes, which would make it a prefix, and texts that are valid labels. */
const hostileLabel = hostile.filter(
  (text) => !/[/]/.test(text) && !/^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/.test(text),
);

test("names, labels and versions with metacharacters are rejected with their field, and nothing is written", async (t) => {
  const { call, createCluster: createGood, everything } = await startClusters(t);
  await createGood("prod");
  const before = await everything();
  const good = {
    name: "new",
    k8sVersion: "1.35.4",
    controlPlaneNodes: { instanceType: "standard", count: 1 },
  };
  const pool = { name: "more", instanceType: "standard", count: 1 };
  const work = { clusterName: "prod" };
  const places: readonly (readonly [string, (text: string) => Promise<unknown>])[] = [
    ["name", (name) => call(createCluster, { ...good, name })],
    ["k8s_version", (k8sVersion) => call(createCluster, { ...good, k8sVersion })],
    [
      "control_plane_nodes.instanceType",
      (instanceType) => call(createCluster, { ...good, controlPlaneNodes: { instanceType, count: 1 } }),
    ],
    [
      "worker_node_pools[0].name",
      (name) => call(createCluster, { ...good, workerNodePools: [{ ...pool, name }] }),
    ],
    [
      "worker_node_pools[0].name",
      (name) => call(addNodePool, { ...work, workerNodePools: [{ ...pool, name }] }),
    ],
    ["node_pool_names[0]", (name) => call(deleteNodePool, { ...work, nodePoolNames: [name] })],
    ["node_pools[0].name", (name) => call(scaleNodePool, { ...work, nodePools: [{ name, count: 2 }] })],
    ["version", (version) => call(upgradeCluster, { name: "prod", version })],
    ["name", (name) => call(upgradeCluster, { name, version: "1.36.3" })],
    ["name", (name) => call(Cluster.method.getCluster, { name })],
    ["name", (name) => call(Cluster.method.deleteCluster, { name })],
    ["name", (name) => call(Cluster.method.getUpgradeClusterInformation, { name })],
    ["clusterName", (clusterName) => call(Cluster.method.getClusterNodesStatus, { clusterName })],
    ["clusterName", (clusterName) => call(addNodePool, { clusterName, workerNodePools: [pool] })],
    ["cluster", (cluster) => call(ClusterService.method.getKubeconfig, { cluster })],
    ["cluster", (cluster) => call(ClusterService.method.rotateKubeconfig, { cluster })],
    ["cluster", (cluster) => call(ClusterService.method.listMachines, { cluster })],
  ];
  await fc.assert(
    fc.asyncProperty(hostile, fc.constantFrom(...places), async (text, [field, query]) => {
      const error = await errorOf(query(text));
      return error?.code === "INVALID_ARGUMENT" && error.violations[0]?.field === field;
    }),
    { numRuns: 500 },
  );
  const labelled = (name: string, value: string) =>
    call(addNodePool, { ...work, workerNodePools: [{ ...pool, labels: [{ name, value }] }] });
  await fc.assert(
    fc.asyncProperty(hostileLabel, async (text) => {
      const [byName, byValue] = [await errorOf(labelled(text, "x")), await errorOf(labelled("x", text))];
      return (
        byName?.violations[0]?.field === "worker_node_pools[0].labels[0].name" &&
        byValue?.violations[0]?.field === "worker_node_pools[0].labels[0].value"
      );
    }),
    { numRuns: 200 },
  );
  t.ok((await everything()) === before, "nothing was written");
});
