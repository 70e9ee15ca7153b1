import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { type Test, test } from "tap";
import { Cluster } from "../../../../../gen/cnct/kaas/api/api_pb.ts";
import {
  type Operation,
  OperationService,
  OperationState,
} from "../../../../../gen/hostplane/v1/operation_pb.ts";
import { startGatewayUnderTest } from "../../../harness/gateway-under-test.ts";

const controlPlaneNodes = { instanceType: "standard", count: 1 };
const pool = (name: string, count: number) => ({ name, instanceType: "standard", count });

/** Starts a gateway on the sandbox's MAAS, whose machines take a moment. */
async function startSubject(t: Test) {
  const { url } = await startGatewayUnderTest(t);
  const transport = createGrpcTransport({ baseUrl: url });
  const clusters = createClient(Cluster, transport);
  const operations = createClient(OperationService, transport);
  return {
    clusters,
    operations,
    /** Returns the id of the operation that a call starts. */
    async started(
      call: (options: { onHeader: (headers: Headers) => void }) => Promise<unknown>,
    ): Promise<string> {
      let id = "";
      await call({
        onHeader: (headers) => {
          id = headers.get("hostplane-operation") ?? "";
        },
      });
      return id;
    },
    /** Returns every state of the operation, until it ends. */
    async follow(id: string): Promise<readonly Operation[]> {
      const seen: Operation[] = [];
      for await (const { operation } of operations.watchOperation({ id })) {
        if (operation !== undefined) {
          seen.push(operation);
        }
      }
      return seen;
    },
    names: async () => (await clusters.getClusterList({})).clusters.map(({ name }) => name),
  };
}

test("the creation and each change of a cluster is an operation that reports its progress", async (t) => {
  const { clusters, started, follow, names } = await startSubject(t);
  const created = await started((options) =>
    clusters.createCluster(
      { name: "prod", k8sVersion: "v1.35.4", controlPlaneNodes, workerNodePools: [pool("work", 1)] },
      options,
    ),
  );
  const seen = await follow(created);
  const last = seen.at(-1);
  t.match(last, {
    kind: "clusters.create",
    resource: "clusters/prod",
    state: OperationState.COMPLETED,
    rpc: "cnct.kaas.api.Cluster/CreateCluster",
  });
  t.same(
    last?.steps.map(({ name }) => name),
    ["firstMachine", "controlPlane", "settle"],
  );
  t.ok(
    seen.some(({ message }) => /^\d of 2 machines have joined/.test(message)),
    seen.map(({ message }) => message).join("\n"),
  );

  const scaled = await started((options) =>
    clusters.scaleNodePool({ clusterName: "prod", nodePools: [{ name: "work", count: 2 }] }, options),
  );
  t.match((await follow(scaled)).at(-1), { kind: "clusters.scalePools", state: OperationState.COMPLETED });
  const same = await started((options) =>
    clusters.scaleNodePool({ clusterName: "prod", nodePools: [{ name: "work", count: 2 }] }, options),
  );
  t.equal(same, "", "there was nothing to change");
  const added = await started((options) =>
    clusters.addNodePool({ clusterName: "prod", workerNodePools: [pool("more", 1)] }, options),
  );
  t.match((await follow(added)).at(-1), { kind: "clusters.addPools", state: OperationState.COMPLETED });
  const removed = await started((options) =>
    clusters.deleteNodePool({ clusterName: "prod", nodePoolNames: ["more"] }, options),
  );
  t.match((await follow(removed)).at(-1), { kind: "clusters.removePools", state: OperationState.COMPLETED });
  const deleted = await started((options) => clusters.deleteCluster({ name: "prod" }, options));
  t.match((await follow(deleted)).at(-1), { kind: "clusters.delete", state: OperationState.COMPLETED });
  t.same(await names(), []);
});

test("cancelling a cluster's creation deletes it, and cancelling a scaling restores the pool's size", async (t) => {
  const { clusters, operations, started, follow, names } = await startSubject(t);
  const created = await started((options) =>
    clusters.createCluster({ name: "prod", k8sVersion: "v1.35.4", controlPlaneNodes }, options),
  );
  await operations.cancelOperation({ id: created });
  t.match((await follow(created)).at(-1), { state: OperationState.CANCELLED });
  t.same(await names(), []);

  const again = await started((options) =>
    clusters.createCluster(
      { name: "prod", k8sVersion: "v1.35.4", controlPlaneNodes, workerNodePools: [pool("work", 1)] },
      options,
    ),
  );
  await follow(again);
  const scaled = await started((options) =>
    clusters.scaleNodePool({ clusterName: "prod", nodePools: [{ name: "work", count: 3 }] }, options),
  );
  await operations.cancelOperation({ id: scaled });
  t.match((await follow(scaled)).at(-1), { state: OperationState.CANCELLED });
  const nodes = await clusters.getClusterNodesStatus({ clusterName: "prod" });
  t.equal(nodes.count, 2);
});

test("deleting a cluster ends the operation that creates it, and cannot be cancelled", async (t) => {
  const { clusters, operations, started, follow, names } = await startSubject(t);
  const created = await started((options) =>
    clusters.createCluster({ name: "prod", k8sVersion: "v1.35.4", controlPlaneNodes }, options),
  );
  const deleted = await started((options) => clusters.deleteCluster({ name: "prod" }, options));
  const [result, gone] = await Promise.all([follow(created), follow(deleted)]);
  t.match(result.at(-1), { state: OperationState.FAILED, error: { reason: "CLUSTER_STOPPING" } });
  t.match(gone.at(-1), { state: OperationState.COMPLETED, cancellable: false });
  t.same(await names(), []);
  await t.rejects(operations.cancelOperation({ id: deleted }));
});

test("a change that was followed by another is not reverted, and the cancelled operation reports it", async (t) => {
  const { clusters, operations, started, follow } = await startSubject(t);
  await clusters.createCluster({
    name: "prod",
    k8sVersion: "v1.35.4",
    controlPlaneNodes,
    workerNodePools: [pool("work", 1)],
  });
  const scaleTo = (count: number) =>
    started((options) =>
      clusters.scaleNodePool({ clusterName: "prod", nodePools: [{ name: "work", count }] }, options),
    );
  const first = await scaleTo(2);
  await scaleTo(3);
  await operations.cancelOperation({ id: first });
  const last = (await follow(first)).at(-1);
  t.match(last, { state: OperationState.NEEDS_ATTENTION });
  t.match(last?.attention?.left[0], /prod was changed again in the meantime/);
});
