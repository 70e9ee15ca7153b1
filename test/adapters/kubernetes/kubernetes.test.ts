import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { createKubernetes } from "../../../adapters/kubernetes/kubernetes.ts";
import { watchedNames } from "../../../adapters/kubernetes/resources.ts";
import { sandboxManifests } from "../../../adapters/kubernetes/sandbox-cluster.ts";
import { reasonOf } from "../host/reason-of.ts";
import { okOf, until } from "../until-state.ts";
import { connect, everyWatchStands, quick, startServer, writeKubeconfig } from "./cluster-under-test.ts";
import { testKubernetesContract } from "./contract.ts";
import { kubeconfigFor } from "./kubeconfig.ts";

testKubernetesContract("a fake API server", async (t) => {
  const server = await startServer(t);
  return {
    kubernetes: connect(t, server),
    seeds: sandboxManifests(Date.now(), "rook-ceph"),
    put: async (kind, object) => server.put(kind, object),
    remove: async (kind, name) => server.remove(kind, name),
    async deny(kind) {
      server.deny("list", kind);
      server.deny("watch", kind);
    },
    allow: async (kind) => server.allow(kind),
    uninstall: async (kind) => server.uninstall(kind),
    install: async (kind) => server.install(kind),
    async missHistory(work) {
      await server.stop();
      await work();
      server.compact();
      await server.start();
    },
    stopCluster: () => server.stop(),
    startCluster: () => server.start(),
  };
});

test("a read sends no request to the cluster", async (t) => {
  const server = await startServer(t);
  const kubernetes = connect(t, server);
  await kubernetes.read();
  await everyWatchStands(server);
  const before = server.requestCount();
  for (let reads = 0; reads < 1_000; reads += 1) {
    await kubernetes.read();
  }
  t.equal(server.requestCount(), before);
});

test("a watch that ends is continued by another one, without a list", async (t) => {
  const server = await startServer(t);
  const kubernetes = connect(t, server);
  await kubernetes.read();
  await everyWatchStands(server);
  const before = server.requestCount();
  server.dropWatches();
  server.remove("blockPools", "images");
  await until(t, kubernetes, ({ blockPools }) => okOf(blockPools).length === 0);
  t.ok(server.requestCount() - before <= watchedNames.length, "one watch for each");
});

test("a watch that ends with any error is followed by a list", async (t) => {
  const server = await startServer(t);
  const kubernetes = connect(t, server);
  await kubernetes.read();
  await everyWatchStands(server);
  await server.stop();
  server.remove("blockPools", "images");
  server.compact(500);
  await server.start();
  await until(t, kubernetes, ({ blockPools }) => okOf(blockPools).length === 0);
});

test("the missing permission to watch is named", async (t) => {
  const server = await startServer(t);
  server.deny("watch", "nodes");
  const kubernetes = connect(t, server);
  const { nodes } = await until(t, kubernetes, (state) => "missing" in state.nodes);
  t.strictSame(nodes, { missing: "The account may not watch nodes" });
});

test("a cluster that never answers is unreachable, and readers wait no longer than the timeout", async (t) => {
  const server = await startServer(t);
  const kubernetes = connect(t, server, { patienceMs: 300 });
  await kubernetes.read();
  server.setHanging(true);
  // Turns of this process's event loop: a busy machine makes them longer, not more.
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
  }, 10);
  t.teardown(() => clearInterval(timer));
  let mostTicks = 0;
  let reason: string | undefined;
  while (reason === undefined) {
    const before = ticks;
    reason = await reasonOf(kubernetes.read());
    mostTicks = Math.max(mostTicks, ticks - before);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  t.equal(reason, "KUBERNETES_UNAVAILABLE");
  t.ok(mostTicks < 100, `${mostTicks} times 10 ms`);
  server.setHanging(false);
  await until(t, kubernetes, ({ nodes }) => "ok" in nodes);
  t.equal((await kubernetes.read()).staleBecause, undefined);
});

test("a cluster that hangs from the start is unreachable after one timeout", async (t) => {
  const server = await startServer(t);
  server.setHanging(true);
  const kubernetes = connect(t, server, { patienceMs: 300 });
  await t.rejects(kubernetes.read(), {
    reason: "KUBERNETES_UNAVAILABLE",
    message: /does not answer in time.*127\.0\.0\.1/,
  });
});

test("a part that fails temporarily is kept for a time, and then missing", async (t) => {
  const server = await startServer(t);
  const kubernetes = connect(t, server);
  await kubernetes.read();
  server.setFailing(500);
  server.dropWatches();
  const { value } = await kubernetes.read();
  t.equal(okOf(value.nodes).length, 3);
  const { nodes } = await until(t, kubernetes, (state) => "missing" in state.nodes);
  t.match(nodes, { missing: /Kubernetes answered 500 to (list|watch) nodes/ });
  server.setFailing(undefined);
  await until(t, kubernetes, (state) => "ok" in state.nodes);
});

test("an invalid token is reported, and a kubeconfig with a valid one is read without a restart", async (t) => {
  const server = await startServer(t);
  const path = writeKubeconfig(t, server);
  const kubernetes = connect(t, server, { kubeconfigPath: path });
  await kubernetes.read();
  server.setToken("another");
  server.dropWatches();
  while ((await reasonOf(kubernetes.read())) !== "KUBERNETES_DENIED") {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  writeFileSync(path, kubeconfigFor({ url: server.url, token: "another" }));
  await until(t, kubernetes, ({ nodes }) => okOf(nodes).length === 3);
  server.put("blockPools", {
    apiVersion: "ceph.rook.io/v1",
    kind: "CephBlockPool",
    metadata: { name: "after", namespace: "rook-ceph" },
    spec: { replicated: { size: 2 } },
  });
  await until(t, kubernetes, ({ blockPools }) => okOf(blockPools).length === 2);
});

test("a kubeconfig that is missing, invalid or lacks the context is reported with its path", async (t) => {
  const folder = t.testdir({ empty: "{}", garbage: ": : :\n- [" });
  const good = join(folder, "good");
  const server = await startServer(t);
  await server.stop();
  writeFileSync(good, kubeconfigFor(server));
  const cases = [
    { kubeconfigPath: join(folder, "none"), message: /none cannot be read: ENOENT/ },
    { kubeconfigPath: join(folder, "garbage"), message: /garbage cannot be read/ },
    { kubeconfigPath: join(folder, "empty"), message: /empty/ },
    { kubeconfigPath: good, context: "elsewhere", message: /good has no context elsewhere/ },
    // Another process may listen on its port by now, and not answer.
    { kubeconfigPath: good, message: /cannot be reached \((ECONNREFUSED|it does not answer in time)\)/ },
  ];
  for (const { message, ...options } of cases) {
    const kubernetes = createKubernetes({ ...quick, ...options });
    await t.rejects(kubernetes.read(), { reason: /^KUBERNETES_/, message });
    const isReadable = options.kubeconfigPath === good && !("context" in options);
    const fix = isReadable
      ? /check that the API server is running/
      : /set storage\.kubernetes\.kubeconfig to a kubeconfig/;
    t.match(await kubernetes.inspect(), {
      version: undefined,
      findings: [{ ok: false, what: message, fix }],
    });
    await kubernetes.close();
  }
});

test("outside a pod the kubeconfig must be configured", async (t) => {
  const kubernetes = createKubernetes(quick);
  t.teardown(() => kubernetes.close());
  await t.rejects(kubernetes.read(), {
    reason: "KUBERNETES_UNAVAILABLE",
    message: /storage\.kubernetes\.kubeconfig/,
  });
});

test("a namespace without a CephCluster is reported, with possible causes", async (t) => {
  const server = await startServer(t);
  server.remove("cephClusters", "rook-ceph");
  const { findings } = await connect(t, server).inspect();
  t.strictSame(
    findings.filter(({ ok }) => !ok).map(({ what }) => what),
    ["cephclusters.ceph.rook.io: none in rook-ceph"],
  );
});

// A quiet watch ends by itself only after 90 s.
test("closing ends the watches and pending reads", async (t) => {
  const server = await startServer(t);
  const kubernetes = connect(t, server);
  await kubernetes.read();
  await kubernetes.close();
  while (server.watchCount() > 0) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const requests = server.requestCount();
  await new Promise((resolve) => setTimeout(resolve, 100));
  t.equal(server.requestCount(), requests);

  server.setHanging(true);
  const waiting = connect(t, server, { patienceMs: 60_000 });
  const read = reasonOf(waiting.read());
  await waiting.close();
  t.equal(await read, "KUBERNETES_UNAVAILABLE");
});
