import { test } from "tap";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import type { WorkloadAccess, WorkloadNode } from "../../../../../adapters/workload/adapter.ts";
import { workloadReasons } from "../../../../../adapters/workload/reasons.ts";
import { Cluster } from "../../../../../gen/cnct/kaas/api/api_pb.ts";
import type { SlotChange } from "../../../../../server/domains/clusters/store/records.ts";
import { machineNode, newSlot, noMaas, startClusters, startMaasSandbox } from "../clusters-under-test.ts";

const { getClusterNodesStatus } = Cluster.method;

const clusterName = "prod";
const waiting = "Waiting for Machine Instantiation...";

const moves = (uid: string, change: Omit<SlotChange, "uid" | "from">): SlotChange => ({
  uid,
  from: "wanted",
  ...change,
});

test("machines are reported with their state in Kubernetes and MAAS, the control plane first", async (t) => {
  const maas = await startMaasSandbox(t);
  const [, second] = await Promise.all(
    ["sbxaaa", "sbxbbb", "sbxccc"].map((systemId) => maas.allocate({ systemId, agentName: systemId })),
  );
  const accesses: WorkloadAccess[] = [];
  const nodes = [
    machineNode("sandbox-node-1", { kubeletVersion: "1.35.9" }),
    machineNode("sandbox-node-3", { isReady: false, readyReason: "KubeletNotReady", readyMessage: "no CNI" }),
  ];
  const { call, createCluster, writeSlots } = await startClusters(t, {
    maas,
    nodes: async (access) => {
      accesses.push(access);
      return nodes;
    },
  });
  await createCluster(clusterName);
  t.match(await call(getClusterNodesStatus, { clusterName }), { Name: clusterName, count: 0, machines: [] });

  await writeSlots(
    [
      newSlot("w-1", "work"),
      newSlot("cp-1"),
      newSlot("w-2", "work"),
      newSlot("w-3", "work"),
      newSlot("w-4", "work"),
    ],
    moves("cp-1", {
      state: "joined",
      systemId: "sbxaaa",
      hostname: "Sandbox-Node-1",
      ipAddress: "10.20.0.9",
    }),
    moves("w-1", { state: "deploying", systemId: "sbxbbb" }),
    moves("w-2", { state: "joined", systemId: "sbxccc", hostname: "sandbox-node-3" }),
    moves("w-3", { state: "releasing", systemId: "sbxddd", hostname: "sandbox-node-4" }),
  );
  const answer = await call(getClusterNodesStatus, { clusterName });
  t.equal(answer.count, 5);
  t.match(answer.machines, [
    {
      k8sNodeStatus: "Ready",
      k8sVersion: "1.35.9",
      maasSystemId: "sbxaaa",
      maasHostname: "Sandbox-Node-1",
      maasNodeStatus: "Allocated",
      maasIPAddr: "10.20.0.9",
    },
    {
      k8sNodeStatus: "CreatingMachine",
      k8sVersion: "1.35.4",
      maasSystemId: "sbxbbb",
      maasHostname: second?.hostname,
      maasNodeStatus: "Allocated",
    },
    { k8sNodeStatus: "NotReady: KubeletNotReady, no CNI", maasSystemId: "sbxccc" },
    { k8sNodeStatus: "DeletingMachine", maasSystemId: "sbxddd", maasNodeStatus: "Unknown" },
    {
      k8sNodeStatus: "CreatingMachine",
      k8sVersion: "1.35.4",
      maasSystemId: waiting,
      maasHostname: "",
      maasNodeStatus: "",
      maasIPAddr: "",
    },
  ]);
  t.match(accesses, [{ host: "10.20.0.220", port: 6443, clientKeyPem: /PRIVATE KEY/ }], "called once");
});

test("whatever MAAS or the cluster does not report within 3 s is unknown, with the reason", async (t) => {
  const unknown: Partial<WorkloadNode> = {
    isReady: undefined,
    readyReason: "NodeStatusUnknown",
    readyMessage: "",
  };
  const answers: (() => Promise<readonly WorkloadNode[]>)[] = [
    () => Promise.reject(new InfraError(workloadReasons.WORKLOAD_UNAVAILABLE, "no route to 10.20.0.220")),
    () => new Promise(() => {}),
    async () => [machineNode("node-1", unknown)],
    async () => [],
  ];
  let isLeft = false;
  const { call, createCluster, writeSlots } = await startClusters(t, {
    maas: {
      ...noMaas,
      machines: (_filter, signal) => {
        signal?.addEventListener("abort", () => {
          isLeft = true;
        });
        return new Promise((_resolve, reject) =>
          signal?.addEventListener("abort", () => reject(signal.reason)),
        );
      },
    },
    nodes: () => answers.shift()?.() ?? Promise.resolve([]),
  });
  await createCluster(clusterName);
  await writeSlots(
    [newSlot("cp-1")],
    moves("cp-1", { state: "joined", systemId: "abcdef", hostname: "node-1" }),
  );
  const reported = async () => {
    const beganMs = performance.now();
    const { machines } = await call(getClusterNodesStatus, { clusterName });
    t.ok(performance.now() - beganMs < 5_000);
    t.match(machines[0], { maasSystemId: "abcdef", maasNodeStatus: "Unknown", k8sVersion: "1.35.4" });
    return machines[0]?.k8sNodeStatus;
  };
  t.same(await Promise.all([reported(), reported(), reported(), reported()]), [
    "Unknown: no route to 10.20.0.220",
    "Unknown: the cluster did not respond within 3 s",
    "Unknown: NodeStatusUnknown",
    "ErrorMachine",
  ]);
  t.ok(isLeft, "the call to MAAS is aborted");
});

test("concurrent calls share MAAS's list of machines", async (t) => {
  const maas = await startMaasSandbox(t);
  let lists = 0;
  const { call, createCluster, writeSlots } = await startClusters(t, {
    maas: {
      ...maas,
      machines: (...args) => {
        lists += 1;
        return maas.machines(...args);
      },
    },
    nodes: async () => [],
  });
  await createCluster(clusterName);
  await writeSlots([newSlot("cp-1")], moves("cp-1", { state: "joined", systemId: "sbxaaa" }));
  await Promise.all(Array.from({ length: 20 }, () => call(getClusterNodesStatus, { clusterName })));
  // Calls that arrive together share a list; how many do depends on the machine.
  t.ok(lists < 10, `${lists}`);
  await t.rejects(call(getClusterNodesStatus, { clusterName: "none" }), {
    name: "InfraError",
    reason: "CLUSTER_NOT_FOUND",
  });
});

test("an account that is renamed in MAAS is looked up by its new name", async (t) => {
  const maas = await startMaasSandbox(t);
  let username = "sandbox-before";
  const { call, createCluster, writeSlots } = await startClusters(t, {
    maas: { ...maas, whoami: async () => ({ username, isAdmin: false }) },
    nodes: async () => [],
  });
  const { systemId } = await maas.choose({});
  await maas.allocate({ systemId, agentName: "kaas/a/b" });
  await createCluster(clusterName);
  await writeSlots([newSlot("cp-1")], moves("cp-1", { state: "joined", systemId }));
  const reported = async () =>
    (await call(getClusterNodesStatus, { clusterName })).machines.map(({ maasNodeStatus }) => maasNodeStatus);
  t.same(await reported(), ["Unknown"], "MAAS has no user with that name");
  username = "sandbox";
  t.same(await reported(), ["Allocated"]);
});
