import { randomUUID } from "node:crypto";
import type { Clock } from "../../sandbox/clock.ts";

export interface FakePodOptions {
  readonly node: string;
  readonly name: string;
  /** `default` if absent. */
  readonly namespace?: string;
  /** Kind of its owner; ReplicaSet by default. */
  readonly ownerKind?: "ReplicaSet" | "DaemonSet" | "StatefulSet" | "Job" | "Node";
  readonly phase?: "Running" | "Succeeded" | "Failed";
  /** Time that it takes to terminate; 0 by default, Infinity if a test ends it. */
  readonly terminationMs?: number;
  /** Its disruption budget: the message with which an eviction is refused. */
  readonly budget?: string;
}

export interface FakePod extends Required<Omit<FakePodOptions, "budget">> {
  readonly uid: string;
  budget: string | undefined;
  deletedAtMs: number | undefined;
}

export interface PodTable {
  add(pod: FakePodOptions): void;
  /** Adds the pods that every node has, which must not be evicted. */
  addSystemPods(node: string, isControlPlane: boolean): void;
  /** @param name as `namespace/name`. @param budget undefined to allow evictions again */
  setBudget(name: string, budget: string | undefined): void;
  /** Ends the terminating pods of a node. */
  endLeaving(node: string): void;
  find(namespace: string, name: string): FakePod | undefined;
  on(node: string): readonly FakePod[];
  /** Begins the termination of a pod, unless it has begun. */
  terminate(pod: FakePod): void;
  removeNode(node: string): void;
}

export interface PodTableOptions {
  readonly clock: Pick<Clock, "nowMs">;
  /** Whether a kubelet is there to end pods; otherwise they stay terminating. */
  readonly isNodeAlive: (node: string) => boolean;
}

/** Creates an empty table. */
export function createPodTable({ clock, isNodeAlive }: PodTableOptions): PodTable {
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

  function settle(): void {
    const nowMs = clock.nowMs();
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
    find(namespace, name) {
      settle();
      return pods.get(`${namespace}/${name}`);
    },
    on(node) {
      settle();
      return [...pods.values()].filter((pod) => pod.node === node);
    },
    terminate(pod) {
      pod.deletedAtMs ??= clock.nowMs();
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
