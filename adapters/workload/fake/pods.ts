import { randomUUID } from "node:crypto";

export interface FakePodOptions {
  readonly node: string;
  readonly name: string;
  /** `default` unless told. */
  readonly namespace?: string;
  /** What has made it: a ReplicaSet unless told. */
  readonly ownerKind?: "ReplicaSet" | "DaemonSet" | "StatefulSet" | "Job" | "Node";
  readonly phase?: "Running" | "Succeeded" | "Failed";
  /** How long it takes to end; no time unless told, Infinity for one that a test ends. */
  readonly terminationMs?: number;
  /** Its disruption budget, as the words by which an eviction is refused. */
  readonly budget?: string;
}

export interface FakePod extends Required<Omit<FakePodOptions, "budget">> {
  readonly uid: string;
  budget: string | undefined;
  deletedAtMs: number | undefined;
}

export interface PodTable {
  add(pod: FakePodOptions): void;
  /** Those that every node has, which are not to be evicted. */
  addSystemPods(node: string, isControlPlane: boolean): void;
  /** @param name as `namespace/name`. @param budget undefined when nothing forbids an eviction any more */
  setBudget(name: string, budget: string | undefined): void;
  /** Ends those of a node that are on their way out. */
  endLeaving(node: string): void;
  find(namespace: string, name: string, nowMs: number): FakePod | undefined;
  on(node: string, nowMs: number): readonly FakePod[];
  removeNode(node: string): void;
}

/** @param isNodeAlive whether there is a kubelet to end pods: they stay on their way out where there is none */
export function createPodTable(isNodeAlive: (node: string) => boolean): PodTable {
  const pods = new Map<string, FakePod>();

  function add({ namespace = "default", budget, ...options }: FakePodOptions): void {
    const pod: FakePod = {
      ownerKind: "ReplicaSet",
      phase: "Running",
      terminationMs: 0,
      ...options,
      namespace,
      budget,
      uid: randomUUID(),
      deletedAtMs: undefined,
    };
    pods.set(`${namespace}/${pod.name}`, pod);
  }

  function settle(nowMs: number): void {
    for (const [key, { node, deletedAtMs, terminationMs }] of pods) {
      if (deletedAtMs !== undefined && deletedAtMs + terminationMs <= nowMs && isNodeAlive(node)) {
        pods.delete(key);
      }
    }
  }

  return {
    add,
    addSystemPods(node, isControlPlane) {
      add({ node, namespace: "kube-system", name: `kube-proxy-${node}`, ownerKind: "DaemonSet" });
      for (const name of isControlPlane ? ["etcd", "kube-apiserver"] : []) {
        add({ node, namespace: "kube-system", name: `${name}-${node}`, ownerKind: "Node" });
      }
    },
    setBudget(name, budget) {
      const pod = pods.get(name);
      if (pod !== undefined) {
        pod.budget = budget;
      }
    },
    endLeaving(node) {
      for (const [key, pod] of pods) {
        if (pod.node === node && pod.deletedAtMs !== undefined) {
          pods.delete(key);
        }
      }
    },
    find(namespace, name, nowMs) {
      settle(nowMs);
      return pods.get(`${namespace}/${name}`);
    },
    on(node, nowMs) {
      settle(nowMs);
      return [...pods.values()].filter((pod) => pod.node === node);
    },
    removeNode(node) {
      for (const [key, pod] of pods) {
        if (pod.node === node) {
          pods.delete(key);
        }
      }
    },
  };
}
