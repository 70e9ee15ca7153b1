import type { DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import { type Test, test } from "tap";
import { Cluster } from "../../../../gen/cnct/kaas/api/api_pb.ts";
import { reasonOf } from "../../../adapters/host/reason-of.ts";
import { appliedPlanOf } from "../../domain/applied-plan-of.ts";
import { type ClustersUnderTest, imagesOf, startClusters } from "./clusters-under-test.ts";

const { createCluster, deleteCluster, upgradeCluster, scaleNodePool } = Cluster.method;
const name = "prod";
const clusterName = name;
const nodePools = [{ name: "work", count: 5 }];

/** Two gateways of one store. Something may happen at the first one between the dry run of a transaction and the transaction. */
async function startTwo(t: Test) {
  const other = await startClusters(t);
  let meanwhile: (() => Promise<unknown>) | undefined;
  const one = await startClusters(t, {
    store: {
      ...other.store,
      run: async (transaction, args) => {
        if ((args as { readonly dryRun?: boolean }).dryRun === false && meanwhile !== undefined) {
          const work = meanwhile;
          meanwhile = undefined;
          await work();
        }
        return (await other.store.run(transaction, args)) as never;
      },
    },
  });
  /** Applies a plan of the first gateway, with `work` just before its transaction. */
  async function applied<M extends DescMethodUnary>(
    method: M,
    input: MessageInitShape<M["input"]>,
    work: (other: ClustersUnderTest) => Promise<unknown>,
  ): Promise<string | undefined> {
    const plan = appliedPlanOf(await one.plan(method, input));
    let before = "";
    meanwhile = async () => {
      await work(other);
      before = await other.everything();
    };
    const reason = await reasonOf(one.call(method, input, plan));
    t.equal(await other.everything(), before, "nothing was changed");
    return reason;
  }
  return { other, applied };
}

test("a planned change of a cluster is compared with what it changes", async (t) => {
  const { other, applied } = await startTwo(t);
  await other.createCluster(name);
  const scaled = (count: number) => () =>
    other.call(scaleNodePool, { clusterName, nodePools: [{ name: "work", count }] });
  t.equal(await applied(scaleNodePool, { clusterName, nodePools }, scaled(9)), "PLAN_STALE");
  t.equal(await applied(deleteCluster, { name }, scaled(3)), "PLAN_STALE");
  t.equal(await applied(upgradeCluster, { name, version: "1.36.3" }, scaled(4)), "PLAN_STALE");
});

test("a planned cluster gets the address of its plan, or none", async (t) => {
  const { applied } = await startTwo(t);
  const input = { name, k8sVersion: "1.35.4", controlPlaneNodes: { instanceType: "standard", count: 3 } };
  const taken = await applied(createCluster, input, (other) => other.createCluster("faster"));
  t.equal(taken, "PLAN_STALE");
});

test("an upgrade installs the version of its plan, or none", async (t) => {
  const standard = [
    ["1.35.4", "standard"],
    ["1.36.3", "standard"],
  ] as const;
  const older = imagesOf(...standard, ["1.35.4", "gpu"], ["1.36.5", "gpu"]);
  const newer = imagesOf(...standard, ["1.35.4", "gpu"], ["1.36.3", "gpu"], ["1.36.5", "gpu"]);
  let readsOfOlder = Number.POSITIVE_INFINITY;
  const { call, plan, everything } = await startClusters(t, {
    images: {
      read: () => {
        readsOfOlder -= 1;
        return (readsOfOlder >= 0 ? older : newer).read();
      },
    },
  });
  await call(createCluster, {
    name,
    k8sVersion: "1.35.4",
    controlPlaneNodes: { instanceType: "gpu", count: 1 },
    workerNodePools: [{ name: "work", instanceType: "standard", count: 1 }],
  });
  const before = await everything();
  const upgrade = { name, version: "1.36.3" };
  const saved = appliedPlanOf(await plan(upgradeCluster, upgrade));
  // The image appears after the comparison with the plan.
  readsOfOlder = 1;
  t.equal(await reasonOf(call(upgradeCluster, upgrade, saved)), "PLAN_STALE");
  t.equal(await everything(), before);
});
