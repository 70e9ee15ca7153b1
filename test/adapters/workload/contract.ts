import type { Test } from "tap";
import type {
  WorkloadAccess,
  WorkloadAdapter,
  WorkloadCluster,
  WorkloadNode,
} from "../../../adapters/workload/adapter.ts";
import {
  type BootstrapToken,
  bootstrapTokenSecretFrom,
  createBootstrapToken,
} from "../../../server/domains/clusters/bootstrap/bootstrap-token.ts";
import { reasonOf } from "../host/reason-of.ts";

export interface PodOfTest {
  readonly name: string;
  readonly namespace: string;
  readonly ownerKind: "ReplicaSet" | "DaemonSet" | "Node";
  readonly phase: "Running" | "Succeeded";
}

/** A cluster for one test, of version 1.36.3, and operations that only its nodes and controllers can perform. */
export interface WorkloadUnderTest {
  readonly workload: WorkloadAdapter;
  readonly access: WorkloadAccess;
  /** The same address with a certificate of another cluster's CA, and with one of a user without permissions. */
  readonly strangerAccess: WorkloadAccess;
  readonly nobodyAccess: WorkloadAccess;
  /** The CA certificate of another cluster. */
  readonly otherCaPem: string;
  /** Names of two nodes of 1.36.3, ready and labelled `team=red`. */
  readonly nodes: readonly [string, string];
  setNotReady(node: string, reason: string, message: string): Promise<void>;
  /** Stops the kubelet of a node from reporting. */
  silence(node: string): Promise<void>;
  addPod(node: string, pod: PodOfTest): Promise<void>;
  /** Makes a pod's disruption budget forbid its eviction, or allow it again. */
  setProtected(namespace: string, name: string, isProtected: boolean): Promise<void>;
  /** Ends terminating pods, as a kubelet does. */
  endLeavingPods(node: string): Promise<void>;
  /** Reports whether a machine could join with the token. */
  isTokenGood(token: BootstrapToken): Promise<boolean>;
  /** Returns the version in kubeadm's configuration, and kube-proxy's image. */
  versions(): Promise<{
    readonly configured: string;
    readonly proxyImage: string;
    readonly strategy: string;
  }>;
  /** Returns the names of ClusterRoleBindings. */
  bindings(): Promise<readonly string[]>;
  /** Deletes a binding, as if the cluster had an older version without it. */
  deleteBinding(name: string): Promise<void>;
}

const hourMs = 3_600_000;

function nodeOf(nodes: readonly WorkloadNode[], name: string): WorkloadNode | undefined {
  return nodes.find((node) => node.name === name);
}

/** Runs the tests that every workload adapter must pass. */
export async function passesWorkloadContract(t: Test, subject: WorkloadUnderTest): Promise<void> {
  const { workload, access, nodes: names } = subject;
  const [first, second] = names;
  const cluster: WorkloadCluster = workload.connect(access);

  await t.test("returns its version and its nodes", async (t) => {
    t.equal(await cluster.version(), "1.36.3");
    const node = nodeOf(await cluster.nodes(), first);
    t.match(node, {
      isReady: true,
      readyReason: "KubeletReady",
      kubeletVersion: "1.36.3",
      isCordoned: false,
      addresses: [/^[0-9.]+$/],
    });
    t.equal(node?.labels.get("team"), "red");
    t.ok(Math.abs((node?.createdAtMs ?? 0) - Date.now()) < hourMs);
  });

  await t.test("rejects strangers and users without permissions", async (t) => {
    t.equal(await reasonOf(workload.connect(subject.strangerAccess).nodes()), "WORKLOAD_DENIED");
    t.equal(await reasonOf(workload.connect(subject.nobodyAccess).nodes()), "WORKLOAD_DENIED");
    const other = workload.connect({ ...access, caCertificatePem: subject.otherCaPem });
    t.equal(await reasonOf(other.nodes()), "WORKLOAD_UNAVAILABLE", "nor is another cluster trusted");
  });

  await t.test("rejects invalid names before any request", async (t) => {
    const secret = bootstrapTokenSecretFrom(createBootstrapToken(Date.now(), hourMs), "a test");
    const metadata = { name: "../x", namespace: "kube-system" };
    for (const call of [
      cluster.cordon("a/b"),
      cluster.deleteNode(".."),
      cluster.deleteNode(""),
      cluster.drain("Node"),
      cluster.writeSecret({ ...secret, metadata }),
    ]) {
      t.equal(await reasonOf(call), "INVALID_FIELD");
    }
  });

  await t.test("writes bootstrap tokens, repeatedly", async (t) => {
    const token = createBootstrapToken(Date.now(), hourMs);
    t.notOk(await subject.isTokenGood(token), "unknown");
    // In the opposite order it would remain valid for a while, since an API server caches valid tokens.
    const late = { ...token, expiresAt: new Date(Date.now() - hourMs) };
    await cluster.writeSecret(bootstrapTokenSecretFrom(late, "a test"));
    t.notOk(await subject.isTokenGood(token), "expired");
    await cluster.writeSecret(bootstrapTokenSecretFrom(token, "a test"));
    t.ok(await subject.isTokenGood(token));
    await cluster.writeSecret(bootstrapTokenSecretFrom(token, "a test"));
    t.ok(await subject.isTokenGood(token));
    const elsewhere = bootstrapTokenSecretFrom(token, "a test");
    const metadata = { ...elsewhere.metadata, namespace: "no-such-namespace" };
    t.equal(await reasonOf(cluster.writeSecret({ ...elsewhere, metadata })), "WORKLOAD_FAILED");
  });

  await t.test("reports why a node is not ready, and when its state is unknown", async (t) => {
    await subject.setNotReady(second, "KubeletNotReady", "container runtime network not ready");
    t.match(nodeOf(await cluster.nodes(), second), {
      isReady: false,
      readyReason: "KubeletNotReady",
      readyMessage: "container runtime network not ready",
    });
    await subject.silence(second);
    t.match(nodeOf(await cluster.nodes(), second), { isReady: undefined, readyReason: "NodeStatusUnknown" });
  });

  await t.test("cordons and drains a node", async (t) => {
    const named = (name: string, more: Partial<PodOfTest> = {}): PodOfTest => ({
      name,
      namespace: "default",
      ownerKind: "ReplicaSet",
      phase: "Running",
      ...more,
    });
    await subject.addPod(first, named("web-1"));
    await subject.addPod(first, named("web-2"));
    await subject.addPod(first, named("agent", { ownerKind: "DaemonSet" }));
    await subject.addPod(first, named("static", { ownerKind: "Node" }));
    await subject.addPod(first, named("done", { phase: "Succeeded" }));
    await subject.setProtected("default", "web-2", true);
    await cluster.cordon(first);
    await cluster.cordon(first);
    t.equal(nodeOf(await cluster.nodes(), first)?.isCordoned, true);
    const started = await cluster.drain(first);
    t.same([...started.remaining].toSorted(), ["default/web-1", "default/web-2"]);
    t.match(started.blocked, [{ pod: "default/web-2", why: /disruption budget/ }]);
    t.equal(started.blocked.length, 1);
    await subject.endLeavingPods(first);
    t.same((await cluster.drain(first)).remaining, ["default/web-2"]);
    await subject.setProtected("default", "web-2", false);
    t.match(await cluster.drain(first), { remaining: ["default/web-2"], blocked: [] });
    t.same(await cluster.drain(first), { remaining: ["default/web-2"], blocked: [] }, "it is terminating");
    await subject.endLeavingPods(first);
    t.same(await cluster.drain(first), { remaining: [], blocked: [] });
  });

  await t.test("ignores missing nodes", async (t) => {
    await cluster.cordon("no-such-node");
    await cluster.deleteNode("no-such-node");
    t.same(await cluster.drain("no-such-node"), { remaining: [], blocked: [] });
  });

  await t.test("sets the version of future machines", async (t) => {
    const before = await subject.versions();
    t.match(before, { configured: "v1.36.3", proxyImage: /:v1\.36\.3$/ });
    await cluster.setVersion("1.37.1");
    const after = await subject.versions();
    t.equal(after.configured, "v1.37.1");
    t.equal(after.proxyImage, before.proxyImage.replace("v1.36.3", "v1.37.1"));
    t.equal(after.strategy, "OnDelete", "old machines do not have the new version's image");
    await cluster.setVersion("1.37.1");
    t.same(await subject.versions(), after);
  });

  await t.test(
    "creates the bindings that API servers and administrators of newer versions need",
    async (t) => {
      const needed = ["kubeadm:apiserver-kubelet-client", "kubeadm:cluster-admins"];
      for (const name of needed) {
        await subject.deleteBinding(name);
      }
      await cluster.setVersion("1.37.1");
      const found = await subject.bindings();
      t.ok(
        needed.every((name) => found.includes(name)),
        found.join(", "),
      );
      await cluster.setVersion("1.37.1");
      t.same(await subject.bindings(), found);
    },
  );

  await t.test("deletes a node", async (t) => {
    await cluster.deleteNode(first);
    await cluster.deleteNode(first);
    t.equal(nodeOf(await cluster.nodes(), first), undefined);
    t.not(nodeOf(await cluster.nodes(), second), undefined);
  });

  await t.test("throws the signal's reason, and sends nothing after close", async (t) => {
    const reason = new Error("changed my mind");
    await t.rejects(cluster.nodes(AbortSignal.abort(reason)), reason);
    const leaving = new AbortController();
    const requested = cluster.nodes(leaving.signal);
    leaving.abort(reason);
    await t.rejects(requested, reason);
    await cluster.close();
    t.equal(await reasonOf(cluster.nodes()), "WORKLOAD_UNAVAILABLE");
  });
}
