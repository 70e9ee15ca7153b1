import { type FakeCluster, type FakeNode, type FakeSecret, isAlive } from "./cluster.ts";
import type { FakePod } from "./pods.ts";

// Objects as the API server of 1.36.3 returns them, with the fields that a gateway may read.

function timeOf(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}

/** Returns a list. @param kind of its items, e.g. `Node` */
export function listOf(kind: string, items: readonly object[]): object {
  return { kind: `${kind}List`, apiVersion: "v1", metadata: { resourceVersion: "1" }, items };
}

/** Returns a Node, whose condition Ready is Unknown once its kubelet has stopped. */
export function renderNode({ name, uid, createdAtMs, labels, isUnschedulable, boot, notReady }: FakeNode) {
  const cordon = isUnschedulable
    ? { unschedulable: true, taints: [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }] }
    : {};
  return {
    metadata: { name, uid, resourceVersion: "1", creationTimestamp: timeOf(createdAtMs), labels },
    spec: cordon,
    status: {
      conditions: [
        { type: "MemoryPressure", status: "False", reason: "KubeletHasSufficientMemory", message: "" },
        { type: "Ready", ...readiness(isAlive(boot), notReady) },
      ],
      addresses: [
        { type: "InternalIP", address: boot.machine.address },
        { type: "Hostname", address: name },
      ],
      nodeInfo: { kubeletVersion: `v${boot.version}`, operatingSystem: "linux", architecture: "amd64" },
    },
  };
}

function readiness(isKubeletAlive: boolean, notReady: FakeNode["notReady"]) {
  if (!isKubeletAlive) {
    const message = "Kubelet stopped posting node status.";
    return { status: "Unknown", reason: "NodeStatusUnknown", message };
  }
  return notReady === undefined
    ? { status: "True", reason: "KubeletReady", message: "kubelet is posting ready status" }
    : { status: "False", ...notReady };
}

/** Returns a Pod. A static pod is owned by its Node and has the annotation of a mirror pod. */
export function renderPod(pod: FakePod) {
  const { name, namespace, uid, node, ownerKind, phase, deletedAtMs } = pod;
  const mirror = ownerKind === "Node" ? { annotations: { "kubernetes.io/config.mirror": uid } } : {};
  const leaving = deletedAtMs === undefined ? {} : { deletionTimestamp: timeOf(deletedAtMs) };
  const owner = { apiVersion: "v1", kind: ownerKind, name: `${name}-owner`, uid, controller: true };
  return {
    metadata: { name, namespace, uid, resourceVersion: "1", ...mirror, ...leaving, ownerReferences: [owner] },
    spec: { nodeName: node },
    status: { phase },
  };
}

/** Returns a Secret; its values are encoded in base64. */
export function renderSecret({ namespace, name, uid, type, data }: FakeSecret) {
  const inBase64 = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
  return {
    kind: "Secret",
    apiVersion: "v1",
    metadata: { name, namespace, uid, resourceVersion: "1" },
    data: Object.fromEntries(inBase64),
    type,
  };
}

/** Returns the ConfigMap `kubeadm-config`, in which kubeadm keeps the cluster's configuration. */
export function renderConfig({ config }: FakeCluster) {
  const resourceVersion = String(config.resourceVersion);
  return {
    kind: "ConfigMap",
    apiVersion: "v1",
    metadata: { name: "kubeadm-config", namespace: "kube-system", resourceVersion },
    data: config.data,
  };
}

/** Returns the DaemonSet `kube-proxy`, whose image an upgrade has to change. */
export function renderProxy({ image, updateStrategy }: NonNullable<FakeCluster["proxy"]>) {
  return {
    kind: "DaemonSet",
    apiVersion: "apps/v1",
    metadata: { name: "kube-proxy", namespace: "kube-system", resourceVersion: "1" },
    spec: {
      updateStrategy: { type: updateStrategy },
      template: { spec: { containers: [{ name: "kube-proxy", image }] } },
    },
  };
}
