import { type Test, test } from "tap";
import type { Part } from "../../../adapters/host/part-of-state.ts";
import type { KubernetesAdapter, KubernetesState } from "../../../adapters/kubernetes/adapter.ts";
import type { WatchedName } from "../../../adapters/kubernetes/resources.ts";
import type { Manifest, Manifests } from "../../../adapters/kubernetes/sandbox-cluster.ts";
import { reasonOf } from "../host/reason-of.ts";

/** An adapter to hold to the contract, and what is done to its cluster, which begins with the sandbox's objects in `rook-ceph`. */
export interface ContractSubject {
  readonly kubernetes: KubernetesAdapter;
  /** What is there at first. */
  readonly seeds: Manifests;
  put(kind: WatchedName, object: Manifest): Promise<void>;
  remove(kind: WatchedName, name: string): Promise<void>;
  /** The account may not list and watch the kind any more. */
  deny(kind: WatchedName): Promise<void>;
  allow(kind: WatchedName): Promise<void>;
  /** Removes the definition of a kind of Rook's or Koor's, with its objects. */
  uninstall(kind: WatchedName): Promise<void>;
  install(kind: WatchedName): Promise<void>;
  /** Does the work while the adapter cannot follow, and has the cluster forget what happened. */
  missHistory(work: () => Promise<void>): Promise<void>;
  stopCluster(): Promise<void>;
  startCluster(): Promise<void>;
}

/** Registers the tests that every KubernetesAdapter must pass. Each has a cluster with the seeds, and an adapter of its own. */
export function testKubernetesContract(
  kind: string,
  makeSubject: (t: Test) => Promise<ContractSubject>,
): void {
  registerKubernetesContract({ test: (behaviour, body) => test(behaviour, body) }, kind, makeSubject);
}

/** The same as parts of a test, which has made the cluster that they share: each leaves it as it was. */
export function registerKubernetesContract(
  parent: { test(behaviour: string, body: (t: Test) => Promise<void>): unknown },
  kind: string,
  makeSubject: (t: Test) => Promise<ContractSubject>,
): void {
  function contractTest(behaviour: string, body: (t: Test, subject: ContractSubject) => Promise<void>): void {
    parent.test(`${kind}: ${behaviour}`, async (t) => {
      const subject = await makeSubject(t);
      t.teardown(() => subject.kubernetes.close());
      await body(t, subject);
    });
  }

  contractTest("nodes, pods and Deployments are told, and they agree", async (t, { kubernetes }) => {
    const { value, staleBecause } = await kubernetes.read();
    t.equal(staleBecause, undefined);
    t.match(value.version, /^v1\.\d+/);
    const nodes = okOf(value.nodes);
    t.match(nodes, [
      { name: "sandbox-ceph-1", isReady: true, roles: ["control-plane"], internalIp: "192.0.2.1" },
      { name: "sandbox-ceph-2", isReady: true, roles: ["worker"], zone: "sandbox-b", externalIp: "" },
      { name: "sandbox-ceph-3", kubeletVersion: /^v1\./, createdAtMs: Number },
    ]);
    t.ok(nodes.every(({ createdAtMs }) => createdAtMs > Date.UTC(2020) && createdAtMs <= Date.now()));
    const pods = okOf(value.storagePods);
    t.strictSame(
      new Set(pods.map(({ app }) => app)),
      new Set(["rook-ceph-mon", "rook-ceph-mgr", "rook-ceph-osd"]),
      "those of the CephCluster alone",
    );
    const names = nodes.map(({ name }) => name);
    t.ok(pods.every(({ node = "" }) => names.includes(node)));
    t.match(
      okOf(value.deployments).find(({ name }) => name === "rook-ceph-mds-cephfs-b"),
      {
        namespace: "rook-ceph",
        service: "rook-ceph-mds/cephfs",
        wantedReplicas: 1,
        readyReplicas: 1,
        isObserved: true,
        isProgressing: false,
        podNodes: ["sandbox-ceph-2"],
      },
    );
  });

  contractTest("Rook's and Koor's resources are told", async (t, { kubernetes }) => {
    const { value } = await kubernetes.read();
    const common = {
      apiVersion: "ceph.rook.io/v1",
      namespace: "rook-ceph",
      phase: "Ready",
      isObserved: true,
    };
    const pool = { kind: "replicated", size: 3, redundancy: 2, failureDomain: "host" };
    t.match(okOf(value.cephClusters), [
      { ...common, kind: "CephCluster", name: "rook-ceph", state: "Created", wantedReplicas: 3 },
    ]);
    t.match(okOf(value.blockPools), [{ ...common, name: "images", wantedReplicas: 3, pools: [pool] }]);
    t.match(okOf(value.filesystems), [{ ...common, name: "cephfs", wantedReplicas: 2, pools: [pool, pool] }]);
    t.match(okOf(value.objectStores), [{ ...common, name: "default", services: ["rook-ceph-rgw/default"] }]);
    t.match(okOf(value.koorClusters), [
      {
        name: "sandbox",
        useAllDevices: true,
        upgradeOptions: { mode: "notify" },
        status: {
          totalResources: { nodes: "3", memory: "96Gi" },
          currentVersions: { ceph: "v17.2.6" },
          latestVersions: undefined,
        },
      },
    ]);
  });

  contractTest("readers of what does not change get the same state", async (t, { kubernetes }) => {
    const [one, other] = await Promise.all([kubernetes.read(), kubernetes.read()]);
    t.equal(one.revision, other.revision);
    t.equal((await kubernetes.read()).revision, one.revision);
  });

  contractTest("a reader that leaves does not wait", async (t, { kubernetes }) => {
    const reason = new Error("left");
    await t.rejects(kubernetes.read(AbortSignal.abort(reason)), reason);
    await kubernetes.read();
  });

  contractTest("what is made, changes and goes is seen and told", async (t, subject) => {
    const { kubernetes, seeds } = subject;
    const before = await kubernetes.read();
    let told = 0;
    const unsubscribe = kubernetes.subscribe(() => {
      told += 1;
    });
    await subject.put("blockPools", poolManifest("more"));
    await until(t, kubernetes, ({ blockPools }) => okOf(blockPools).length === 2);
    const [seed] = seeds.nodes;
    const conditions = [{ type: "Ready", status: "Unknown", reason: "NodeStatusUnknown" }];
    const status = { ...(seed?.status as object), conditions };
    await subject.put("nodes", { ...(seed as Manifest), status });
    await until(t, kubernetes, ({ nodes }) => okOf(nodes)[0]?.isReady === false);
    await subject.remove("blockPools", "more");
    await until(t, kubernetes, ({ blockPools }) => okOf(blockPools).length === 1);
    await subject.put("nodes", seed as Manifest);
    await until(t, kubernetes, ({ nodes }) => okOf(nodes)[0]?.isReady === true);
    t.ok((await kubernetes.read()).revision > before.revision);
    while (told === 0) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    unsubscribe();
  });

  contractTest("of many changes the last stands", async (t, subject) => {
    const { kubernetes } = subject;
    await kubernetes.read();
    for (let size = 1; size <= 25; size += 1) {
      await subject.put("blockPools", poolManifest("busy", size));
    }
    await until(t, kubernetes, ({ blockPools }) =>
      okOf(blockPools).some(({ name, wantedReplicas }) => name === "busy" && wantedReplicas === 25),
    );
    await subject.remove("blockPools", "busy");
  });

  contractTest(
    "a right that is taken away is missing with its name, alone, until it is given",
    async (t, subject) => {
      const { kubernetes } = subject;
      await kubernetes.read();
      await subject.deny("deployments");
      const denied = await until(t, kubernetes, ({ deployments }) => "missing" in deployments);
      t.match(denied.deployments, { missing: /may not (list|watch) deployments\.apps in rook-ceph/ });
      t.equal(okOf(denied.nodes).length, 3);
      const { findings } = await kubernetes.inspect();
      t.match(
        findings.filter(({ ok }) => !ok),
        [{ what: /deployments/, fix: /cluster-role\.yaml/ }],
      );
      await subject.allow("deployments");
      await until(t, kubernetes, ({ deployments }) => "ok" in deployments && deployments.ok.length > 0);
    },
  );

  contractTest("a kind that is not installed is missing, but of Koor's there is none", async (t, subject) => {
    const { kubernetes, seeds } = subject;
    await kubernetes.read();
    await subject.uninstall("objectStores");
    await subject.uninstall("koorClusters");
    const without = await until(
      t,
      kubernetes,
      ({ objectStores, koorClusters }) =>
        "missing" in objectStores && "ok" in koorClusters && koorClusters.ok.length === 0,
    );
    t.match(without.objectStores, { missing: /no cephobjectstores\.ceph\.rook\.io/ });
    await subject.install("objectStores");
    await subject.install("koorClusters");
    await until(t, kubernetes, ({ objectStores }) => "ok" in objectStores && objectStores.ok.length === 0);
    await subject.put("objectStores", seeds.objectStores[0] as Manifest);
    await subject.put("koorClusters", seeds.koorClusters[0] as Manifest);
    await until(
      t,
      kubernetes,
      ({ objectStores, koorClusters }) => okOf(objectStores).length === 1 && okOf(koorClusters).length === 1,
    );
  });

  contractTest("what happened while history was lost is seen", async (t, subject) => {
    const { kubernetes, seeds } = subject;
    await kubernetes.read();
    await subject.missHistory(async () => {
      await subject.put("blockPools", poolManifest("meanwhile"));
      await subject.remove("objectStores", "default");
    });
    await until(
      t,
      kubernetes,
      ({ blockPools, objectStores }) => okOf(blockPools).length === 2 && okOf(objectStores).length === 0,
    );
    await subject.remove("blockPools", "meanwhile");
    await until(t, kubernetes, ({ blockPools }) => okOf(blockPools).length === 1);
    await subject.put("objectStores", seeds.objectStores[0] as Manifest);
  });

  contractTest(
    "while the cluster is away the last state is told with its age, then none",
    async (t, subject) => {
      const { kubernetes } = subject;
      const before = await kubernetes.read();
      let told = 0;
      const unsubscribe = kubernetes.subscribe(() => {
        told += 1;
      });
      await subject.stopCluster();
      let during = await kubernetes.read();
      while (during.staleBecause === undefined) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        during = await kubernetes.read();
      }
      t.strictSame(during.value, before.value);
      t.ok(told > 0);
      const later = during.readAtMs;
      while ((await reasonOf(kubernetes.read())) === undefined) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        if (performance.now() - later > 60_000) {
          throw new Error("it is told for ever");
        }
      }
      t.equal(await reasonOf(kubernetes.read()), "KUBERNETES_UNAVAILABLE");
      t.match(await kubernetes.inspect(), { version: undefined, findings: [{ ok: false, fix: String }] });
      await subject.startCluster();
      await until(t, kubernetes, (value) => isWhole(value));
      const after = await kubernetes.read();
      t.equal(after.staleBecause, undefined);
      t.ok(after.readAtMs > before.readAtMs);
      unsubscribe();
    },
  );

  contractTest("it says what it found", async (t, { kubernetes }) => {
    const { version, findings } = await kubernetes.inspect();
    t.match(version, /^v1\.\d+/);
    t.strictSame(
      findings.filter(({ ok }) => !ok),
      [],
    );
  });
}

function poolManifest(name: string, size = 3): Manifest {
  return {
    apiVersion: "ceph.rook.io/v1",
    kind: "CephBlockPool",
    metadata: { name, namespace: "rook-ceph" },
    spec: { failureDomain: "host", replicated: { size } },
  };
}

export function okOf<T>(part: Part<T>): T {
  if ("missing" in part) {
    throw new Error(`missing: ${part.missing}`);
  }
  return part.ok;
}

/** Reads until the state is as wanted; what fails meanwhile is tried again. */
export async function until(
  t: Test,
  kubernetes: KubernetesAdapter,
  isReached: (state: KubernetesState) => boolean,
): Promise<KubernetesState> {
  const deadlineMs = performance.now() + 60_000;
  let last: unknown;
  while (performance.now() < deadlineMs) {
    try {
      const { value } = await kubernetes.read();
      if (isReached(value)) {
        t.pass("the state is reached");
        return value;
      }
      last = value;
    } catch (error) {
      last = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  t.comment(last);
  throw new Error("the cluster did not come to the state in 60 s");
}

/** Whether nothing is missing. */
function isWhole(state: KubernetesState): boolean {
  return Object.values(state).every(
    (part) => (typeof part === "object" && "ok" in part) || typeof part === "string",
  );
}
