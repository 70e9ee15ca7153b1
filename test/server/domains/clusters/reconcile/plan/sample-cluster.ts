import type { MaasMachine } from "../../../../../../adapters/maas/machine.ts";
import type { WorkloadNode } from "../../../../../../adapters/workload/adapter.ts";
import type { ClusterView } from "../../../../../../server/domains/clusters/reconcile/plan/cluster-view.ts";
import { offeredImagesFrom } from "../../../../../../server/domains/clusters/specs/cluster-images.ts";
import type { ClusterRecord, SlotRecord } from "../../../../../../server/domains/clusters/store/records.ts";

export const nowMs = 1_800_000_000_000;

/** Returns a running cluster with three control-plane machines and a pool of two. */
export function clusterOf(changes: Partial<ClusterRecord> = {}): ClusterRecord {
  return {
    name: "prod",
    uid: "c1",
    backend: "http://maas:5240/MAAS",
    generation: 1,
    k8sVersion: "1.36.3",
    controlPlaneVersion: "1.36.3",
    controlPlane: { instanceType: "standard", labels: [], count: 3 },
    pools: [{ name: "web", instanceType: "standard", labels: [], count: 2 }],
    endpoint: "10.20.0.200",
    secretsVersion: 1,
    isDeleting: false,
    status: "running",
    message: "",
    settledGeneration: 1,
    hasRun: true,
    actor: "admin",
    createdAtMs: nowMs - 1e9,
    ...changes,
  };
}

/** Returns a machine that has been a node of the cluster for an hour. */
export function slotOf(uid: string, changes: Partial<SlotRecord> = {}): SlotRecord {
  return {
    uid,
    cluster: "prod",
    clusterUid: "c1",
    pool: "web",
    instanceType: "standard",
    labels: [],
    k8sVersion: "1.36.3",
    state: "joined",
    candidateId: `id-${uid}`,
    systemId: `id-${uid}`,
    hostname: uid,
    ipAddress: "10.20.0.9",
    sequence: 1,
    message: "",
    reason: "",
    attempts: 0,
    nextTryAtMs: 0,
    stateSinceMs: nowMs - 3_600_000,
    createdAtMs: nowMs - 7_200_000,
    ...changes,
  };
}

/** Returns a slot that has no machine yet. */
export function newSlotOf(uid: string, changes: Partial<SlotRecord> = {}): SlotRecord {
  const none = { candidateId: undefined, systemId: undefined, hostname: undefined, ipAddress: undefined };
  return slotOf(uid, { state: "wanted", ...none, sequence: 0, ...changes });
}

/** Returns a control-plane machine. */
export function serverOf(uid: string, changes: Partial<SlotRecord> = {}): SlotRecord {
  return slotOf(uid, { pool: undefined, ...changes });
}

/** Returns all five machines of `clusterOf`. */
export function wholeCluster(version = "1.36.3"): readonly SlotRecord[] {
  const servers = ["cp1", "cp2", "cp3"].map((uid, index) =>
    serverOf(uid, { k8sVersion: version, createdAtMs: nowMs - 9e6 + index }),
  );
  const workers = ["w1", "w2"].map((uid, index) =>
    slotOf(uid, { k8sVersion: version, createdAtMs: nowMs - 8e6 + index }),
  );
  return [...servers, ...workers];
}

export function nodeFrom(slot: SlotRecord, changes: Partial<WorkloadNode> = {}): WorkloadNode {
  return {
    name: slot.hostname ?? "",
    isReady: true,
    readyReason: "KubeletReady",
    readyMessage: "",
    kubeletVersion: slot.k8sVersion,
    isCordoned: false,
    labels: new Map(),
    addresses: [],
    createdAtMs: slot.stateSinceMs,
    ...changes,
  };
}

export function machineFrom(slot: SlotRecord, changes: Partial<MaasMachine> = {}): MaasMachine {
  return {
    systemId: slot.systemId ?? slot.candidateId ?? "",
    hostname: slot.hostname ?? "",
    fqdn: `${slot.hostname}.maas`,
    status: "deployed",
    statusCode: 6,
    statusMessage: "",
    owner: "hostplane",
    annotations: new Map(),
    ipAddresses: [],
    tags: ["standard"],
    cpuCount: 4,
    memoryMib: 8192,
    architecture: "amd64/generic",
    powerState: "on",
    pool: "default",
    zone: "default",
    isLocked: false,
    osystem: "custom",
    series: "",
    ...changes,
  };
}

export const images = offeredImagesFrom(
  ["1.35.9", "1.36.3", "1.37.1"].flatMap((version) =>
    ["standard", "gpu"].map((type) => `os=ubuntu-noble,k8s=${version},${type}`),
  ),
);

/** Returns a view in which everything can be read, and every joined node is ready except for the given changes. */
export function viewOf(
  slots: readonly SlotRecord[],
  {
    nodes = {},
    machines = {},
    ...changes
  }: {
    readonly nodes?: Readonly<Record<string, Partial<WorkloadNode>>>;
    readonly machines?: Readonly<Record<string, Partial<MaasMachine>>>;
    readonly api?: ClusterView["api"];
    readonly unreadable?: string;
    readonly images?: ClusterView["images"];
  } = {},
): ClusterView {
  const joined = slots.filter(({ state }) => state === "joined" || state === "draining");
  const taken = slots.filter(({ systemId }) => systemId !== undefined);
  return {
    nowMs,
    machines:
      changes.unreadable === undefined
        ? new Map(taken.map((slot) => [slot.systemId ?? "", machineFrom(slot, machines[slot.uid])]))
        : { unreadable: changes.unreadable },
    api:
      "api" in changes
        ? changes.api
        : {
            isReachable: true,
            nodes: new Map(joined.map((slot) => [slot.hostname ?? "", nodeFrom(slot, nodes[slot.uid])])),
          },
    images: "images" in changes ? changes.images : images,
  };
}
