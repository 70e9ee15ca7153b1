import type { WatchedName } from "./resources.ts";

/** An object as an API server returns it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly [key: string]: unknown;
  };
  readonly spec?: unknown;
  readonly status?: unknown;
}

export type Manifests = Readonly<Record<WatchedName, readonly Manifest[]>>;

/** Where Rook runs Ceph. OSD `n` is on the host `n % hosts.length`. */
export interface SandboxRook {
  /** At least three; the Ceph sandbox has the same. */
  readonly hosts: readonly string[];
  readonly osdCount: number;
}

export const quietRook: SandboxRook = {
  hosts: ["sandbox-ceph-1", "sandbox-ceph-2", "sandbox-ceph-3"],
  osdCount: 6,
};
const dayMs = 24 * 60 * 60_000;

/** A Rook daemon: a Deployment of one replica, and its pod. */
interface Daemon {
  readonly kind: "mon" | "mgr" | "osd" | "mds" | "rgw";
  readonly id: string;
  /** Index of its host. */
  readonly on: number;
  readonly labels?: Readonly<Record<string, string>>;
}

const daemonsOf = ({ hosts, osdCount }: SandboxRook): readonly Daemon[] => [
  ...["a", "b", "c"].map((id, on) => ({ kind: "mon" as const, id, on })),
  ...["a", "b"].map((id, on) => ({ kind: "mgr" as const, id, on })),
  ...Array.from({ length: osdCount }, (_, id) => ({
    kind: "osd" as const,
    id: String(id),
    on: id % hosts.length,
  })),
  ...["a", "b"].map((id, on) => ({
    kind: "mds" as const,
    id: `cephfs-${id}`,
    on,
    labels: { rook_file_system: "cephfs" },
  })),
  ...["a", "b"].map((id, on) => ({
    kind: "rgw" as const,
    id: `default-${id}`,
    on,
    labels: { rook_object_store: "default" },
  })),
];

/**
 * Returns the initial objects of a sandbox: nodes that run Rook's Ceph cluster, and Koor's resource for it; all
 * healthy.
 */
export function sandboxManifests(nowMs: number, namespace: string, rookOn = quietRook): Manifests {
  const { hosts } = rookOn;
  const daemons = daemonsOf(rookOn);
  const creationTimestamp = new Date(nowMs - 30 * dayMs).toISOString().replace(/\.\d+/, "");

  function manifest(
    apiVersion: string,
    kind: string,
    name: string,
    spec: unknown,
    status: unknown,
  ): Manifest {
    return {
      apiVersion,
      kind,
      metadata: { name, namespace, creationTimestamp, generation: 1 },
      spec,
      status,
    };
  }

  function rook(kind: string, name: string, spec: unknown, status: object = { phase: "Ready" }): Manifest {
    return manifest("ceph.rook.io/v1", kind, name, spec, { ...status, observedGeneration: 1 });
  }

  const copies = { failureDomain: "host", replicated: { size: 3 } };
  return {
    nodes: hosts.map((name, index) => nodeManifest(name, index, creationTimestamp)),
    pods: daemons.map((daemon) => podManifest(daemon, hosts[daemon.on] ?? "", namespace)),
    deployments: daemons.map((daemon) => deploymentManifest(daemon, namespace)),
    cephClusters: [
      rook(
        "CephCluster",
        namespace,
        { mon: { count: 3 }, mgr: { count: 2 } },
        { phase: "Ready", state: "Created" },
      ),
    ],
    blockPools: [rook("CephBlockPool", "images", copies)],
    filesystems: [
      rook("CephFilesystem", "cephfs", {
        metadataPool: copies,
        dataPools: [copies],
        metadataServer: { activeCount: 1, activeStandby: true },
      }),
    ],
    objectStores: [
      rook("CephObjectStore", "default", {
        metadataPool: copies,
        dataPool: copies,
        gateway: { instances: 2 },
      }),
    ],
    koorClusters: [manifest("storage.koor.tech/v1alpha1", "KoorCluster", "sandbox", koorSpec, koorStatus)],
  };
}

function nodeManifest(name: string, index: number, creationTimestamp: string): Manifest {
  const zone = `sandbox-${"abc"[index % 3]}`;
  const role = index === 0 ? "control-plane" : "worker";
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      creationTimestamp,
      labels: { [`node-role.kubernetes.io/${role}`]: "", "topology.kubernetes.io/zone": zone },
    },
    spec: {},
    status: {
      conditions: [{ type: "Ready", status: "True", reason: "KubeletReady" }],
      addresses: [
        { type: "InternalIP", address: `192.0.2.${(index % 254) + 1}` },
        { type: "Hostname", address: name },
      ],
      nodeInfo: { kubeletVersion: "v1.36.3" },
    },
  };
}

const templateHash = "5d4f8c7b9d";

function labelsOf({ kind, id, labels = {} }: Daemon): Record<string, string> {
  return { app: `rook-ceph-${kind}`, ceph_daemon_id: id, ceph_daemon_type: kind, ...labels };
}

const components = {
  mon: "cephclusters",
  mgr: "cephclusters",
  osd: "cephclusters",
  mds: "cephfilesystems",
  rgw: "cephobjectstores",
} as const;

function podManifest(daemon: Daemon, nodeName: string, namespace: string): Manifest {
  const replicaSet = `rook-ceph-${daemon.kind}-${daemon.id}-${templateHash}`;
  const component = `${components[daemon.kind]}.ceph.rook.io`;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `${replicaSet}-x2x4z`,
      namespace,
      labels: {
        ...labelsOf(daemon),
        "app.kubernetes.io/component": component,
        "pod-template-hash": templateHash,
      },
      ownerReferences: [
        {
          apiVersion: "apps/v1",
          kind: "ReplicaSet",
          name: replicaSet,
          uid: `uid-of-${replicaSet}`,
          controller: true,
        },
      ],
    },
    spec: { nodeName, containers: [{ name: daemon.kind, image: "sandbox.invalid/ceph" }] },
    status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
  };
}

function deploymentManifest(daemon: Daemon, namespace: string): Manifest {
  const labels = labelsOf(daemon);
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: `rook-ceph-${daemon.kind}-${daemon.id}`, namespace, generation: 1, labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: daemon.kind, image: "sandbox.invalid/ceph" }] },
      },
    },
    status: {
      observedGeneration: 1,
      replicas: 1,
      readyReplicas: 1,
      updatedReplicas: 1,
      availableReplicas: 1,
      conditions: [{ type: "Progressing", status: "True", reason: "NewReplicaSetAvailable" }],
    },
  };
}

const koorSpec = {
  useAllDevices: true,
  monitoringEnabled: true,
  dashboardEnabled: true,
  toolboxEnabled: true,
  upgradeOptions: { mode: "notify", endpoint: "https://versions.sandbox.invalid", schedule: "0 0 * * *" },
  ksdReleaseName: "ksd",
  ksdClusterReleaseName: "ksd-cluster",
};

const koorStatus = {
  totalResources: { nodesCount: "3", storage: "3Ti", cpu: "24", memory: "96Gi" },
  meetsMinimumResources: false,
  currentVersions: { kube: "v1.36.3", koorOperator: "v0.3.7", ksd: "v1.12.8", ceph: "v16.2.15" },
};
