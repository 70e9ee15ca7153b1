import { randomInt, randomUUID } from "node:crypto";
import type { Clock } from "../../sandbox/clock.ts";
import type { Boot } from "./boot.ts";
import type { FakeEndpoint, FakePki } from "./boot-plan.ts";
import { createPodTable, type PodTable } from "./pods.ts";

export interface FakeNode {
  readonly name: string;
  readonly uid: string;
  readonly createdAtMs: number;
  readonly labels: Readonly<Record<string, string>>;
  isUnschedulable: boolean;
  /** The installation whose kubelet reports its status. */
  boot: Boot;
  /** Why its kubelet reports that it is not ready. */
  notReady: { readonly reason: string; readonly message: string } | undefined;
}

export interface FakeSecret {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly type: string;
  /** Values in plain text. */
  readonly data: Readonly<Record<string, string>>;
}

/** The etcd member of a control plane machine. */
export interface FakeMember {
  /** A number of 64 bits. */
  readonly id: string;
  readonly name: string;
  readonly boot: Boot;
}

/** A cluster of the fake. Tests may change the content of its maps. */
export interface FakeCluster {
  readonly name: string;
  readonly uid: string;
  readonly pki: FakePki;
  readonly endpoint: FakeEndpoint | undefined;
  readonly certificateNames: readonly string[];
  readonly nodes: Map<string, FakeNode>;
  /** Secrets by `namespace/name`. */
  readonly secrets: Map<string, FakeSecret>;
  readonly members: FakeMember[];
  readonly pods: PodTable;
  /** kubeadm's configuration, as a ConfigMap. */
  readonly config: { resourceVersion: number; data: Readonly<Record<string, string>> };
  /** The DaemonSet; undefined if a CNI replaces it. */
  proxy: { image: string; updateStrategy: string } | undefined;
  /** Names of the ClusterRoleBindings that kubeadm and the gateway have created. */
  readonly bindings: Set<string>;
  /** Whether the cluster is unreachable. */
  isOut: boolean;
  /** Reports whether etcd has a quorum of running members. */
  hasQuorum(): boolean;
  /** Returns the machines whose API servers and etcd members are running. */
  servers(): readonly Boot[];
  addNode(boot: Boot, nowMs: number): void;
  addMember(boot: Boot): void;
}

export type ClusterStart = Pick<FakeCluster, "name" | "pki" | "endpoint" | "certificateNames"> & {
  readonly configuration: string;
  readonly version: string;
};

/** Creates a cluster without nodes. */
export function createFakeCluster(start: ClusterStart, clock: Pick<Clock, "nowMs">): FakeCluster {
  const { name, pki, endpoint, certificateNames, configuration, version } = start;
  const nodes: FakeCluster["nodes"] = new Map();
  const members: FakeMember[] = [];
  const pods = createPodTable({ clock, isNodeAlive: (node) => isAlive(nodes.get(node)?.boot) });

  return {
    name,
    uid: randomUUID(),
    pki,
    endpoint,
    certificateNames,
    nodes,
    secrets: new Map(),
    members,
    pods,
    config: { resourceVersion: randomInt(100, 1000), data: { ClusterConfiguration: configuration } },
    proxy: { image: `registry.k8s.io/kube-proxy:v${version}`, updateStrategy: "RollingUpdate" },
    bindings: new Set(bindingsOf(version)),
    isOut: false,
    hasQuorum() {
      const living = members.filter(({ boot }) => isAlive(boot));
      return living.length > members.length / 2;
    },
    servers() {
      return members.flatMap(({ boot }) => (isAlive(boot) ? [boot] : []));
    },
    addNode(boot, nowMs) {
      const { nodeName, labels, kind } = boot.plan;
      const found = nodes.get(nodeName);
      if (found !== undefined) {
        // A kubelet takes over the existing node of its name, with its age and its cordon.
        found.boot = boot;
        found.notReady = undefined;
        return;
      }
      const isControlPlane = kind === "init" || boot.plan.pki !== undefined;
      const role = isControlPlane ? { "node-role.kubernetes.io/control-plane": "" } : {};
      const own = { "kubernetes.io/hostname": nodeName, "kubernetes.io/os": "linux", ...role };
      nodes.set(nodeName, {
        name: nodeName,
        uid: randomUUID(),
        // Kubernetes has whole seconds.
        createdAtMs: Math.floor(nowMs / 1000) * 1000,
        labels: { ...labels, ...own },
        isUnschedulable: false,
        boot,
        notReady: undefined,
      });
      pods.addSystemPods(nodeName, isControlPlane);
    },
    addMember(boot) {
      members.push({
        id: String(randomInt(2 ** 47)) + String(randomInt(1000)),
        name: boot.plan.nodeName,
        boot,
      });
    },
  };
}

/** Returns the bindings that `kubeadm init` of a version creates. */
function bindingsOf(version: string): readonly string[] {
  const minor = Number(version.split(".")[1]);
  return [
    ...(minor >= 29 ? ["kubeadm:cluster-admins"] : []),
    ...(minor >= 36 ? ["kubeadm:apiserver-kubelet-client"] : []),
  ];
}

/** Reports whether the machine's kubelet runs: the machine has joined and still exists. */
export function isAlive(boot: Boot | undefined): boolean {
  return boot !== undefined && !boot.isGone && boot.state === "joined";
}
