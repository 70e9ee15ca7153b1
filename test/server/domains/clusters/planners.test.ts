import type { DescMethodUnary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { test } from "tap";
import { Cluster } from "../../../../gen/cnct/kaas/api/api_pb.ts";
import { ClusterService } from "../../../../gen/hostplane/v1/cluster_pb.ts";
import { errorOf } from "../auth/auth-under-test.ts";
import { newSlot, startClusters } from "./clusters-under-test.ts";

const { createCluster, deleteCluster, addNodePool, deleteNodePool, scaleNodePool, upgradeCluster } =
  Cluster.method;
const { rotateKubeconfig } = ClusterService.method;

const clusterName = "prod";

test("a dry run describes changes and losses, and changes nothing", async (t) => {
  const { plan, createCluster: make, everything } = await startClusters(t);
  await make(clusterName);
  const before = await everything();
  const pool = (name: string, count: number) => ({ name, count, instanceType: "standard" });

  t.match(
    await plan(createCluster, {
      name: "test",
      k8sVersion: "1.35.4",
      controlPlaneNodes: { instanceType: "gpu", count: 1 },
      workerNodePools: [pool("work", 2)],
    }),
    {
      kind: "clusters.create",
      resource: "clusters/test",
      plan: {
        changes: [
          "cluster test will be created with the address 10.20.0.221",
          "its control plane will have 1 gpu machine with Kubernetes 1.35.4",
          "the node pool work will have 2 standard machines with Kubernetes 1.35.4",
        ],
        losses: [],
      },
      steps: [{ name: "clusters.create", command: [] }],
      pointOfNoReturn: 0,
    },
  );
  t.match(await plan(addNodePool, { clusterName, workerNodePools: [pool("more", 1)] }), {
    kind: "clusters.addPools",
    resource: "clusters/prod",
    plan: { changes: ["the node pool more will have 1 standard machine with Kubernetes 1.35.4"] },
  });
  t.match(await plan(scaleNodePool, { clusterName, nodePools: [{ name: "work", count: 1 }] }), {
    plan: {
      changes: ["the node pool work will have 1 machines (now 2)"],
      losses: ["all data on the disks of 1 machine of the node pool work"],
    },
  });
  t.match(await plan(scaleNodePool, { clusterName, nodePools: [{ name: "work", count: 3 }] }), {
    plan: { losses: [] },
  });
  t.match(await plan(deleteNodePool, { clusterName, nodePoolNames: ["work"] }), {
    plan: { changes: [/node pool work will be removed/], losses: [/2 machines of the node pool work/] },
  });
  t.match(await plan(upgradeCluster, { name: clusterName, version: "1.36.3" }), {
    plan: {
      changes: [/control plane will have Kubernetes 1\.36\.3 \(now 1\.35\.4\)/, /node pools/, /./],
      losses: [/./],
    },
  });
  t.match(await plan(rotateKubeconfig, { cluster: clusterName }), {
    kind: "clusters.rotateKubeconfig",
    plan: { changes: [/new certificate/] },
  });
  t.match(await plan(deleteCluster, { name: clusterName }), {
    plan: { changes: [/released to MAAS/], losses: [/5 machines/] },
  });
  t.ok((await everything()) === before, "nothing was written");
});

test("a dry run is rejected for the same reasons as the call", async (t) => {
  const { plan, call, createCluster: make } = await startClusters(t);
  await make(clusterName);
  const pools = [{ name: "work", instanceType: "standard", count: 1 }];
  const create = { name: "test", k8sVersion: "1.35.4" };
  const cases: readonly (readonly [() => Promise<unknown>, () => Promise<unknown>, string])[] = [
    [() => plan(createCluster, create), () => call(createCluster, create), "INVALID_FIELD"],
    ...(
      [
        [addNodePool, { clusterName, workerNodePools: pools }, "POOL_EXISTS"],
        [deleteNodePool, { clusterName, nodePoolNames: ["none"] }, "POOL_NOT_FOUND"],
        [scaleNodePool, { clusterName, nodePools: [{ name: "work" }] }, "SCALE_TO_ZERO"],
        [upgradeCluster, { name: clusterName, version: "1.34.8" }, "UPGRADE_REFUSED"],
        [deleteCluster, { name: "none" }, "CLUSTER_NOT_FOUND"],
        [rotateKubeconfig, { cluster: "" }, "INVALID_FIELD"],
      ] as const
    ).map(
      ([method, input, reason]) =>
        [() => plan(method, input as never), () => call(method, input as never), reason] as const,
    ),
  ];
  for (const [planned, called, reason] of cases) {
    await t.rejects(planned(), { name: "InfraError", reason });
    await t.rejects(called(), { name: "InfraError", reason });
  }
});

const name = fc.constantFrom("prod", "prod", "prod", "test", "none", "", "-x");
const pool = fc.constantFrom("work", "work", "gpus", "none", "control-plane", "");
const count = fc.constantFrom(0, 1, 2, 3, 5_000, -1);
const instanceType = fc.constantFrom("standard", "gpu", "");
const version = fc.constantFrom("1.34.8", "1.35.4", "1.36.3", "1.37.0", "");
const workerNodePools = fc.array(fc.record({ name: pool, count, instanceType }), { maxLength: 2 });

const anyCall: fc.Arbitrary<readonly [DescMethodUnary, object]> = fc.oneof(
  fc
    .record({
      name,
      k8sVersion: version,
      controlPlaneNodes: fc.record({ instanceType, count: fc.constantFrom(0, 1, 3) }),
      workerNodePools,
    })
    .map((input) => [createCluster, input] as const),
  fc.record({ clusterName: name, workerNodePools }).map((input) => [addNodePool, input] as const),
  fc
    .record({ clusterName: name, nodePoolNames: fc.array(pool, { maxLength: 2 }) })
    .map((input) => [deleteNodePool, input] as const),
  fc
    .record({ clusterName: name, nodePools: fc.array(fc.record({ name: pool, count }), { maxLength: 2 }) })
    .map((input) => [scaleNodePool, input] as const),
  fc.record({ name, version }).map((input) => [upgradeCluster, input] as const),
  fc.record({ cluster: name }).map((input) => [rotateKubeconfig, input] as const),
  fc.record({ name }).map((input) => [deleteCluster, input] as const),
);

test("a call right after its dry run has the same outcome", async (t) => {
  const { plan, call, createCluster: make, everything, writeSlots } = await startClusters(t);
  await make(clusterName);
  await writeSlots([newSlot("s-1"), newSlot("s-2", "work")]);
  const outcome = async (requested: Promise<unknown>) => {
    const error = await errorOf(requested);
    return error === undefined ? "ok" : `${error.reason} ${error.message}`;
  };
  const reasons = new Set<string>();
  await fc.assert(
    fc.asyncProperty(anyCall, async ([method, input]) => {
      const before = await everything();
      const planned = await outcome(plan(method, input as never));
      const isUntouched = (await everything()) === before;
      const called = await outcome(call(method, input as never));
      reasons.add(called.split(" ")[0] ?? "");
      return isUntouched && planned === called;
    }),
    { numRuns: 300 },
  );
  t.ok(reasons.size >= 4, [...reasons].join(", "));
});
