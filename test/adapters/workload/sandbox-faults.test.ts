import { type Test, test } from "tap";
import type { WorkloadCluster, WorkloadNode } from "../../../adapters/workload/adapter.ts";
import { createWorkloadSandbox } from "../../../adapters/workload/sandbox.ts";
import { reasonOf } from "../host/reason-of.ts";
import { clusterRecipe, createMachinePark } from "./machine-park.ts";

const endpoint = { host: "10.20.0.200", port: 6443 };

/** Starts a control plane of three machines, cp-1 to cp-3, with the addresses 10.20.0.11 to 10.20.0.13. */
async function startCluster(t: Test) {
  const park = createMachinePark();
  const sandbox = await createWorkloadSandbox({ machines: park.machines, joinMs: 0 });
  t.teardown(() => sandbox.close());
  const recipe = await clusterRecipe("prod", endpoint);
  park.install("cp-1", recipe.init("cp-1"));
  park.install("cp-2", recipe.joinControlPlane("cp-2"));
  park.install("cp-3", recipe.joinControlPlane("cp-3"));
  const cluster = sandbox.connect(recipe.access);
  await nodesOf(cluster);
  const etcd = await recipe.etcdAccess(["10.20.0.11", "10.20.0.12", "10.20.0.13"]);
  const members = () => sandbox.fake.cluster("prod")?.members.map(({ name }) => name);
  return { park, sandbox, recipe, cluster, etcd, members };
}

/** Lists nodes over a new connection. On a busy machine its handshake may exceed the time limit of a read. */
async function nodesOf(cluster: WorkloadCluster): Promise<readonly WorkloadNode[]> {
  let nodes: readonly WorkloadNode[] | undefined;
  while (nodes === undefined) {
    nodes = await cluster.nodes().catch((error: unknown) => {
      if (!/no answer in time/.test(String(error))) {
        throw error;
      }
      return undefined;
    });
  }
  return nodes;
}

test("without an etcd quorum a cluster does nothing", async (t) => {
  const { park, cluster, etcd, members } = await startCluster(t);
  park.release("cp-1");
  t.match(
    (await cluster.nodes()).map(({ isReady }) => isReady),
    [undefined, true, true],
  );
  await cluster.removeEtcdMember("cp-1", etcd);
  await cluster.removeEtcdMember("cp-1", etcd);
  t.same(members(), ["cp-2", "cp-3"]);
  park.release("cp-2");
  t.equal(await cluster.version(), "1.35.4");
  await t.rejects(cluster.nodes(), {
    reason: "WORKLOAD_UNAVAILABLE",
    message: /etcdserver: request timed out/,
  });
  t.equal(await reasonOf(cluster.removeEtcdMember("cp-2", etcd)), "WORKLOAD_UNAVAILABLE");
});

test("the last etcd member stays, and a removed one no longer serves", async (t) => {
  const { cluster, etcd, members, sandbox, recipe } = await startCluster(t);
  await cluster.removeEtcdMember("cp-2", etcd);
  await cluster.removeEtcdMember("cp-3", etcd);
  const gone = sandbox.connect({ ...recipe.access, host: "10.20.0.12" });
  t.equal(await reasonOf(gone.nodes()), "WORKLOAD_UNAVAILABLE");
  t.equal((await nodesOf(sandbox.connect({ ...recipe.access, host: "10.20.0.11" }))).length, 3);
  await t.rejects(cluster.removeEtcdMember("cp-1", etcd), { reason: "WORKLOAD_FAILED", message: /last one/ });
  t.same(members(), ["cp-1"]);
  t.equal(
    await reasonOf(cluster.removeEtcdMember("cp-1", { ...etcd, addresses: [] })),
    "WORKLOAD_UNAVAILABLE",
  );
});

test("an etcd member that was added and never started is found by its node's address", async (t) => {
  const { cluster, etcd, members, sandbox } = await startCluster(t);
  const list = sandbox.fake.cluster("prod")?.members ?? [];
  list.splice(0, 3, ...list.map((member) => (member.name === "cp-3" ? { ...member, name: "" } : member)));
  await cluster.removeEtcdMember("cp-9", etcd);
  t.same(members(), ["cp-1", "cp-2", ""]);
  await cluster.removeEtcdMember("cp-3", etcd);
  t.same(members(), ["cp-1", "cp-2"]);
});

test("etcd accepts only clients of its own CA", async (t) => {
  const { cluster, etcd } = await startCluster(t);
  const other = await (await clusterRecipe("prod", endpoint)).etcdAccess(etcd.addresses);
  const { clientCertificatePem, clientKeyPem } = other;
  const stranger = { ...etcd, clientCertificatePem, clientKeyPem };
  // Node's server closes the connection without a message. test/lab/kubernetes/workload-etcd.test.ts covers real ones.
  t.equal(await reasonOf(cluster.removeEtcdMember("cp-3", stranger)), "WORKLOAD_UNAVAILABLE");
  const { caCertificatePem } = other;
  t.equal(
    await reasonOf(cluster.removeEtcdMember("cp-3", { ...etcd, caCertificatePem })),
    "WORKLOAD_UNAVAILABLE",
  );
});

test("injected faults lose, delay and refuse requests", async (t) => {
  const { cluster, sandbox } = await startCluster(t);
  const { fake } = sandbox;
  fake.inject({ kind: "api", path: "/nodes" }, { kind: "loseReply" });
  t.equal((await cluster.nodes()).length, 3, "one lost request is retried");
  fake.inject({ method: "DELETE", path: "/nodes/cp-3" }, { kind: "loseReply", times: 2 });
  t.equal(await reasonOf(cluster.deleteNode("cp-3")), "WORKLOAD_UNAVAILABLE");
  t.equal((await cluster.nodes()).length, 2, "and was done");
  fake.inject({ method: "DELETE" }, { kind: "cut", times: 2 });
  t.equal(await reasonOf(cluster.deleteNode("cp-2")), "WORKLOAD_UNAVAILABLE");
  t.equal((await cluster.nodes()).length, 2, "and was not done");
  const answer = { status: 429, json: { message: "too many requests" } };
  fake.inject({}, { kind: "answer", answer });
  t.equal(await reasonOf(cluster.nodes()), "WORKLOAD_UNAVAILABLE");
  fake.inject({}, { kind: "cut", times: 100 });
  fake.clearFaults();
  t.equal((await nodesOf(cluster)).length, 2);
  t.ok(fake.requests.some(({ method, path }) => method === "DELETE" && path === "/api/v1/nodes/cp-3"));
});

test("a read ends after 3 s, and when the adapter is closed", async (t) => {
  const { cluster, sandbox } = await startCluster(t);
  sandbox.fake.inject({}, { kind: "delay", ms: 60_000, times: 2 });
  const beganMs = performance.now();
  await t.rejects(cluster.nodes(), { reason: "WORKLOAD_UNAVAILABLE", message: /no answer in time/ });
  const tookMs = performance.now() - beganMs;
  t.ok(tookMs > 2_900, `${tookMs} ms`);
  const requested = reasonOf(cluster.version());
  await sandbox.close();
  t.equal(await requested, "WORKLOAD_UNAVAILABLE");
});

test("a cluster during an outage is unreachable until it ends", async (t) => {
  const { cluster, sandbox } = await startCluster(t);
  const prod = sandbox.fake.cluster("prod");
  if (prod !== undefined) {
    prod.isOut = true;
  }
  t.equal(await reasonOf(cluster.nodes()), "WORKLOAD_UNAVAILABLE");
  if (prod !== undefined) {
    prod.isOut = false;
  }
  t.equal((await nodesOf(cluster)).length, 3);
});

test("connections never leave the fake", async (t) => {
  const { sandbox, recipe } = await startCluster(t);
  const elsewhere = sandbox.connect({ ...recipe.access, host: "127.0.0.1", port: 22 });
  await t.rejects(elsewhere.nodes(), { reason: "WORKLOAD_UNAVAILABLE", message: /connection refused/ });
});

test("pods of a node without a kubelet stay terminating", async (t) => {
  const { park, cluster, sandbox } = await startCluster(t);
  sandbox.fake.cluster("prod")?.pods.add({ node: "cp-3", name: "web" });
  park.release("cp-3");
  t.same((await cluster.drain("cp-3")).remaining, ["default/web"]);
  t.same((await cluster.drain("cp-3")).remaining, ["default/web"]);
  await cluster.deleteNode("cp-3");
  t.same((await cluster.drain("cp-3")).remaining, []);
});
