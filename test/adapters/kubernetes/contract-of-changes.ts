import type { Test } from "tap";
import type { KubernetesState } from "../../../adapters/kubernetes/adapter.ts";
import type { Manifest } from "../../../adapters/kubernetes/sandbox-cluster.ts";
import { reasonOf } from "../host/reason-of.ts";
import { okOf, until } from "../until-state.ts";
import type { ContractSubject } from "./contract-subject.ts";

/**
 * Registers the part of the contract about changes, lost permissions and outages. Each test leaves the cluster as it
 * was.
 */
export function registerContractOfChanges(
  contractTest: (behaviour: string, body: (t: Test, subject: ContractSubject) => Promise<void>) => void,
): void {
  contractTest("created, changed and removed objects are detected and reported", async (t, subject) => {
    const { kubernetes, seeds } = subject;
    const before = await kubernetes.read();
    let notifications = 0;
    const unsubscribe = kubernetes.subscribe(() => {
      notifications += 1;
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
    while (notifications === 0) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    unsubscribe();
  });

  contractTest("the last of many changes counts", async (t, subject) => {
    const { kubernetes } = subject;
    await kubernetes.read();
    for (let size = 1; size <= 25; size += 1) {
      await subject.put("blockPools", poolManifest("busy", size));
    }
    await until(t, kubernetes, ({ blockPools }) =>
      okOf(blockPools).some(({ name, desiredReplicas }) => name === "busy" && desiredReplicas === 25),
    );
    await subject.remove("blockPools", "busy");
  });

  contractTest(
    "only the part without permission is missing, with its name, until it is granted again",
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

  contractTest(
    "a kind that is not installed is missing, except Koor's, which is then empty",
    async (t, subject) => {
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
        ({ objectStores, koorClusters }) =>
          okOf(objectStores).length === 1 && okOf(koorClusters).length === 1,
      );
    },
  );

  contractTest("changes during lost history are detected", async (t, subject) => {
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

  contractTest("during an outage, returns the last state with its age, then fails", async (t, subject) => {
    const { kubernetes } = subject;
    const before = await kubernetes.read();
    let notifications = 0;
    const unsubscribe = kubernetes.subscribe(() => {
      notifications += 1;
    });
    await subject.stopCluster();
    let during = await kubernetes.read();
    while (during.staleBecause === undefined) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      during = await kubernetes.read();
    }
    t.strictSame(during.value, before.value);
    t.ok(notifications > 0);
    const later = during.readAtMs;
    while ((await reasonOf(kubernetes.read())) === undefined) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      if (performance.now() - later > 60_000) {
        throw new Error("the state never expires");
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

/** Reports whether nothing is missing. */
function isWhole(state: KubernetesState): boolean {
  return Object.values(state).every(
    (part) => (typeof part === "object" && "ok" in part) || typeof part === "string",
  );
}
