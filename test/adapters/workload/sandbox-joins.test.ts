import type { Test } from "tap";
import { test } from "tap";
import { createWorkloadSandbox } from "../../../adapters/workload/sandbox.ts";
import { bootstrapTokenSecretFrom } from "../../../server/domains/clusters/bootstrap/bootstrap-token.ts";
import { reasonOf } from "../host/reason-of.ts";
import { clusterRecipe, createMachinePark, newToken } from "./machine-park.ts";

const endpoint = { host: "10.20.0.200", port: 6443 };

/** Starts a cluster of one machine, node-1. */
async function startCluster(t: Test, isFixed = true) {
  const park = createMachinePark();
  const sandbox = await createWorkloadSandbox({ machines: park.machines, joinMs: 0 });
  t.teardown(() => sandbox.close());
  // The first machine of the park.
  const own = { host: "10.20.0.11", port: 6443 };
  const recipe = await clusterRecipe("prod", isFixed ? endpoint : own, isFixed);
  park.install("node-1", recipe.init("node-1"));
  const cluster = sandbox.connect(recipe.access);
  const names = async () => (await cluster.nodes()).map(({ name }) => name).toSorted();
  const whyNot = async (hostname: string) => {
    await names();
    return sandbox.fake.refusals.find(({ nodeName }) => nodeName === hostname)?.why;
  };
  return { park, sandbox, recipe, cluster, names, whyNot };
}

test("a machine joins with a known, valid token only", async (t) => {
  const { park, recipe, cluster, names, whyNot } = await startCluster(t);
  park.install("unknown", recipe.joinWorker("unknown", newToken()));
  t.match(await whyNot("unknown"), /no token/);
  const wrong = { ...recipe.token, secret: "0000000000000000" };
  park.install("wrong", recipe.joinWorker("wrong", wrong));
  t.match(await whyNot("wrong"), /another secret/);
  const late = { ...newToken(), expiresAt: new Date(Date.now() - 60_000) };
  await cluster.writeSecret(bootstrapTokenSecretFrom(late, "late"));
  park.install("late", recipe.joinWorker("late", late));
  t.match(await whyNot("late"), /expired/);
  const other = await clusterRecipe("other", endpoint);
  park.install("stranger", other.joinWorker("stranger", recipe.token));
  t.match(await whyNot("stranger"), /hash/);
  const good = newToken();
  await cluster.writeSecret(bootstrapTokenSecretFrom(good, "good"));
  park.install("good", recipe.joinWorker("good", good));
  park.install("first", recipe.joinWorker("first"));
  t.same(await names(), ["first", "good", "node-1"]);
});

test("user data must be what cloud-init and kubeadm accept", async (t) => {
  const { park, recipe, sandbox, names, whyNot } = await startCluster(t);
  park.install("plain", "#cloud-config\nruncmd: [[reboot]]\nwrite_files: []\n");
  park.install("shell", "#!/bin/sh\nkubeadm join\n");
  park.install("broken", "#cloud-config\nwrite_files: 1\n");
  const withoutKeys = recipe
    .joinControlPlane("bare")
    .replace("/etc/kubernetes/pki/etcd/ca.key", "/etc/kubernetes/pki/etcd/ca.clef");
  park.install("bare", withoutKeys);
  t.same(await names(), ["node-1"]);
  t.match(await whyNot("broken"), /user data is invalid/);
  t.match(await whyNot("bare"), /etcd\/ca.key is missing/);
  t.equal(sandbox.fake.refusals.length, 2);
});

test("a machine with the name of a ready node does not join, but takes over the name of a silent one", async (t) => {
  const { park, recipe, cluster, names, whyNot } = await startCluster(t);
  park.install("node-2", recipe.joinWorker("node-2"));
  t.same(await names(), ["node-1", "node-2"]);
  park.install("twin", recipe.joinWorker("node-2"));
  t.match(await whyNot("node-2"), /already exists/);
  await cluster.cordon("node-2");
  park.release("node-2");
  t.equal((await cluster.nodes())[1]?.isReady, undefined);
  park.install("third", recipe.joinWorker("node-2"));
  t.match((await cluster.nodes())[1], { isReady: true, isCordoned: true }, "it keeps the node's properties");
  await cluster.deleteNode("node-2");
  t.same(await names(), ["node-1"], "and it does not come back by itself");
});

test("versions must match", async (t) => {
  const { park, recipe, cluster, names, whyNot } = await startCluster(t);
  park.install("newer", recipe.joinWorker("newer"), { version: "1.36.3" });
  t.match(await whyNot("newer"), /newer than the API server/);
  park.install("older", recipe.joinWorker("older"), { version: "1.34.8" });
  park.install("cp-2", recipe.joinControlPlane("cp-2"), { version: "1.36.3" });
  t.match(await whyNot("cp-2"), /does not make a control plane of 1.35.4/);
  await cluster.setVersion("1.36.3");
  park.install("cp-3", recipe.joinControlPlane("cp-3"), { version: "1.36.3" });
  park.install("cp-4", recipe.joinControlPlane("cp-4"), { version: "1.35.4" });
  t.match(await whyNot("cp-4"), /does not make a control plane of 1.36.3/);
  t.same(await names(), ["cp-3", "node-1", "older"]);
  const versions = new Map((await cluster.nodes()).map((node) => [node.name, node.kubeletVersion]));
  t.same([...versions.values()].toSorted(), ["1.34.8", "1.35.4", "1.36.3"]);
});

test("a cluster is not created twice at one address, nor with another version than the image's", async (t) => {
  const { park, recipe, names, whyNot, sandbox } = await startCluster(t);
  t.same(await names(), ["node-1"]);
  park.install("node-2", recipe.init("node-2"));
  t.match(await whyNot("node-2"), /answers at 10.20.0.200:6443 already/);
  park.release("node-1");
  park.release("node-2");
  t.same(sandbox.fake.clusters(), [], "it is gone with its control plane");
  park.install("node-3", recipe.init("node-3", "1.35.4"), { version: "1.34.8" });
  t.equal(await reasonOf(names()), "WORKLOAD_UNAVAILABLE");
  t.match(sandbox.fake.refusals.at(-1)?.why, /no images of 1.35.4/);
  park.install("node-4", recipe.init("node-4"));
  t.same(await names(), ["node-4"]);
});

test("a machine waits for its cluster, but not forever", async (t) => {
  const { park, recipe, sandbox, names, cluster } = await startCluster(t, false);
  park.release("node-1");
  const early = park.install("early", recipe.joinWorker("early"));
  park.install("late", recipe.joinWorker("late"), { deployedAtMs: Date.now() - 3_600_000 });
  t.equal(await reasonOf(cluster.nodes()), "WORKLOAD_UNAVAILABLE");
  t.match(
    sandbox.fake.refusals.map(({ nodeName, why }) => `${nodeName}: ${why}`),
    ["late: no API server answers at 10.20.0.11:6443"],
  );
  park.install("node-1", recipe.init("node-1"), { address: "10.20.0.11" });
  t.same(await names(), ["early", "node-1"]);
  sandbox.fake.neverJoin("sys9");
  park.install("dead", recipe.joinWorker("dead"), { systemId: "sys9" });
  t.same(await names(), ["early", "node-1"]);
  park.install("dead", recipe.joinWorker("dead"), { systemId: "sys9", deployedAtMs: early.deployedAtMs + 1 });
  t.same(await names(), ["dead", "early", "node-1"], "once");
});
