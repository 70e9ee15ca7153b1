import { type Test, test } from "tap";
import { okOf } from "../until-state.ts";
import { registerContractOfChanges } from "./contract-of-changes.ts";
import type { ContractSubject } from "./contract-subject.ts";

/**
 * Registers the tests that every KubernetesAdapter must pass. Each has its own adapter, and a cluster with the seeds.
 */
export function testKubernetesContract(
  kind: string,
  makeSubject: (t: Test) => Promise<ContractSubject>,
): void {
  registerKubernetesContract({ test: (behaviour, body) => test(behaviour, body) }, kind, makeSubject);
}

/** Registers them as subtests of a test that has created a shared cluster; each leaves it as it was. */
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

  contractTest("reports nodes, pods and Deployments consistently", async (t, { kubernetes }) => {
    const { value, staleBecause } = await kubernetes.read();
    t.equal(staleBecause, undefined);
    t.match(value.version, /^v1\.\d+/);
    const nodes = okOf(value.nodes);
    t.match(nodes, [
      { name: "sandbox-ceph-1", isReady: true, roles: ["control-plane"], internalIp: "192.0.2.1" },
      { name: "sandbox-ceph-2", isReady: true, roles: ["worker"], zone: "sandbox-b", externalIp: "" },
      { name: "sandbox-ceph-3", kubeletVersion: /^v1\./, createdAtMs: Number },
    ]);
    t.ok(nodes.every(({ createdAtMs = 0 }) => createdAtMs > Date.UTC(2020) && createdAtMs <= Date.now()));
    const pods = okOf(value.storagePods);
    t.strictSame(
      new Set(pods.map(({ app }) => app)),
      new Set(["rook-ceph-mon", "rook-ceph-mgr", "rook-ceph-osd"]),
      "only those of the CephCluster",
    );
    const names = nodes.map(({ name }) => name);
    t.ok(pods.every(({ node = "" }) => names.includes(node)));
    t.match(
      okOf(value.deployments).find(({ name }) => name === "rook-ceph-mds-cephfs-b"),
      {
        namespace: "rook-ceph",
        service: "rook-ceph-mds/cephfs",
        desiredReplicas: 1,
        readyReplicas: 1,
        isObserved: true,
        isProgressing: false,
        podNodes: ["sandbox-ceph-2"],
      },
    );
  });

  contractTest("reports Rook's and Koor's resources", async (t, { kubernetes }) => {
    const { value } = await kubernetes.read();
    const common = {
      apiVersion: "ceph.rook.io/v1",
      namespace: "rook-ceph",
      phase: "Ready",
      isObserved: true,
    };
    const pool = { kind: "replicated", size: 3, redundancy: 2, failureDomain: "host" };
    t.match(okOf(value.cephClusters), [
      { ...common, kind: "CephCluster", name: "rook-ceph", state: "Created", desiredReplicas: 3 },
    ]);
    t.match(okOf(value.blockPools), [{ ...common, name: "images", desiredReplicas: 3, pools: [pool] }]);
    t.match(okOf(value.filesystems), [
      { ...common, name: "cephfs", desiredReplicas: 2, pools: [pool, pool] },
    ]);
    t.match(okOf(value.objectStores), [{ ...common, name: "default", services: ["rook-ceph-rgw/default"] }]);
    t.match(okOf(value.koorClusters), [
      {
        name: "sandbox",
        useAllDevices: true,
        upgradeOptions: { mode: "notify" },
        status: {
          totalResources: { nodes: "3", memory: "96Gi" },
          currentVersions: { ceph: "v16.2.15" },
          latestVersions: undefined,
        },
      },
    ]);
  });

  contractTest("readers get the same state while nothing changes", async (t, { kubernetes }) => {
    const [one, other] = await Promise.all([kubernetes.read(), kubernetes.read()]);
    t.equal(one.revision, other.revision);
    t.equal((await kubernetes.read()).revision, one.revision);
  });

  contractTest("a reader whose signal is aborted does not wait", async (t, { kubernetes }) => {
    const reason = new Error("left");
    await t.rejects(kubernetes.read(AbortSignal.abort(reason)), reason);
    await kubernetes.read();
  });

  registerContractOfChanges(contractTest);

  contractTest("inspection returns findings", async (t, { kubernetes }) => {
    const { version, findings } = await kubernetes.inspect();
    t.match(version, /^v1\.\d+/);
    t.strictSame(
      findings.filter(({ ok }) => !ok),
      [],
    );
  });
}
