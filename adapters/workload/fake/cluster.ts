import { randomInt, randomUUID } from "node:crypto";
import type { Boot } from "./boot.ts";
import type { FakeEndpoint, FakePki } from "./boot-plan.ts";
import { createPodTable, type PodTable } from "./pods.ts";

export interface FakeNode {
  readonly name: string;
  readonly uid: string;
  readonly createdAtMs: number;
  readonly labels: Readonly<Record<string, string>>;
  isUnschedulable: boolean;
  /** Whose kubelet speaks for it. */
  boot: Boot;
  /** Why its kubelet says that it is not ready. */
  notReady: { readonly reason: string; readonly message: string } | undefined;
}

export interface FakeSecret {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly type: string;
  /** In plain text. */
  readonly data: Readonly<Record<string, string>>;
}

/** An etcd of a machine of the control plane. */
export interface FakeMember {
  /** A number of 64 bits. */
  readonly id: string;
  readonly name: string;
  readonly boot: Boot;
}

/** A cluster of the fake. What is in its maps may be changed by tests. */
export interface FakeCluster {
  readonly name: string;
  readonly uid: string;
  readonly pki: FakePki;
  readonly endpoint: FakeEndpoint | undefined;
  readonly certificateNames: readonly string[];
  readonly nodes: Map<string, FakeNode>;
  /** By `namespace/name`. */
  readonly secrets: Map<string, FakeSecret>;
  readonly members: FakeMember[];
  readonly pods: PodTable;
  /** kubeadm's configuration, as ConfigMap. */
  readonly config: { resourceVersion: number; data: Readonly<Record<string, string>> };
  /** The DaemonSet; undefined where a CNI does without. */
  proxy: { image: string; updateStrategy: string } | undefined;
  /** Names of the ClusterRoleBindings that kubeadm and the gateway have created. */
  readonly bindings: Set<string>;
  /** Nothing of it can be reached. */
  isOut: boolean;
  /** Whether so many etcds live that something can be read and written. */
  hasQuorum(): boolean;
  /** The machines whose API servers and etcds run. */
  servers(): readonly Boot[];
  addNode(boot: Boot, nowMs: number): void;
  addMember(boot: Boot): void;
}

export type ClusterStart = Pick<FakeCluster, "name" | "pki" | "endpoint" | "certificateNames"> & {
  readonly configuration: string;
  readonly version: string;
};

/** A cluster without nodes. */
export function createFakeCluster(start: ClusterStart): FakeCluster {
  const { name, pki, endpoint, certificateNames, configuration, version } = start;
  const nodes: FakeCluster["nodes"] = new Map();
  const members: FakeMember[] = [];
  const pods = createPodTable((node) => isAlive(nodes.get(node)?.boot));

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
        // A kubelet takes over what is there under its name, with its age and its cordon.
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

/** What `kubeadm init` of a version creates. */
function bindingsOf(version: string): readonly string[] {
  const minor = Number(version.split(".")[1]);
  return [
    ...(minor >= 29 ? ["kubeadm:cluster-admins"] : []),
    ...(minor >= 36 ? ["kubeadm:apiserver-kubelet-client"] : []),
  ];
}

export function isAlive(boot: Boot | undefined): boolean {
  return boot !== undefined && !boot.isGone && boot.state === "joined";
}
