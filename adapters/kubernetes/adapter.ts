import type { Part } from "../host/part-of-state.ts";
import type { Snapshot } from "../host/snapshot.ts";

export interface KubernetesNode {
  readonly name: string;
  /** The condition Ready, which is not met either while the kubelet is silent; undefined when the node has none. */
  readonly isReady: boolean | undefined;
  /** As `control-plane`: of the labels `node-role.kubernetes.io/ROLE` and `kubernetes.io/role`, in order. */
  readonly roles: readonly string[];
  /** Address, or else DNS name; empty when there is none. */
  readonly internalIp: string;
  readonly externalIp: string;
  /** Undefined where it is not told. */
  readonly createdAtMs: number | undefined;
  /** Of the label `topology.kubernetes.io/zone`. */
  readonly zone: string | undefined;
  /** What the node is in by Rook's labels `topology.rook.io/KIND`, as `rack` to `r1`. */
  readonly rookTopology: ReadonlyMap<string, string>;
  readonly kubeletVersion: string;
}

/** A pod that is one of a CephCluster's daemons, and has not ended. */
export interface KubernetesStoragePod {
  readonly name: string;
  /** Undefined while it waits for a node. */
  readonly node: string | undefined;
  /** What runs in it, as `rook-ceph-osd`; empty without the label `app`. */
  readonly app: string;
  readonly isReady: boolean;
}

export interface KubernetesDeployment {
  readonly namespace: string;
  readonly name: string;
  /**
   * What other Deployments of the same value stand in for: Rook runs each daemon as a Deployment of one replica, so that
   * `rook-ceph-mon-a` and `-b` are both `rook-ceph-mon`. Of the labels `app`, `rook_file_system` and `rook_object_store`, as
   * `rook-ceph-mds/myfs`; undefined for whatever is not Rook's daemon.
   */
  readonly service: string | undefined;
  readonly wantedReplicas: number;
  readonly readyReplicas: number;
  readonly updatedReplicas: number;
  readonly availableReplicas: number;
  /** Whether its controller has seen what is wanted now. */
  readonly isObserved: boolean;
  /** Whether a rollout is under way: the condition Progressing, until its reason is NewReplicaSetAvailable. */
  readonly isProgressing: boolean;
  /** Whether a rollout has not come to its end in time. */
  readonly progressDeadlineExceeded: boolean;
  /** The nodes that its ready pods are on, each once, in order; undefined when pods cannot be read. */
  readonly podNodes: readonly string[] | undefined;
}

export interface RookPool {
  readonly kind: "replicated" | "erasure";
  /** Copies, or parts, of each object, and how many of them may be lost. */
  readonly size: number;
  readonly redundancy: number;
  /** What no two copies share: `host`, which is Rook's default, `osd`, `zone`, `rack`... */
  readonly failureDomain: string;
}

/** A CephCluster, CephBlockPool, CephFilesystem or CephObjectStore. */
export interface RookObject {
  /** As `ceph.rook.io/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** `status.phase`, as `Ready`; undefined while the operator has told none. */
  readonly phase: string | undefined;
  /** `status.state`, as `Created`, which only a CephCluster has. */
  readonly state: string | undefined;
  /** Whether the operator has seen what is wanted now. True for objects of which it does not tell. */
  readonly isObserved: boolean;
  readonly isDeleting: boolean;
  /**
   * What the original counts as its replicas: the monitors of a cluster, copies or parts of a pool, metadata servers of a
   * file system (each active one has a standby), gateways of an object store. Undefined where the object does not say.
   */
  readonly wantedReplicas: number | undefined;
  /** The values of `service` that the Deployments have which run it, as `rook-ceph-mds/myfs`; none for a pool. */
  readonly services: readonly string[];
  /** A pool has itself; a cluster none. */
  readonly pools: readonly RookPool[];
}

/** A version of a product and where it is; empty where nothing is told. */
export interface KoorProductVersion {
  readonly version: string;
  readonly imageUri: string;
  readonly imageHash: string;
  readonly helmRepository: string;
  readonly helmChart: string;
}

/** A KoorCluster of `storage.koor.tech/v1alpha1`, with the defaults of its definition where the object is silent. */
export interface KoorClusterObject {
  readonly namespace: string;
  readonly name: string;
  readonly useAllDevices: boolean;
  readonly monitoringEnabled: boolean;
  readonly dashboardEnabled: boolean;
  readonly toolboxEnabled: boolean;
  /** `mode` as `disabled`, `notify` or `upgrade`. */
  readonly upgradeOptions: { readonly mode: string; readonly endpoint: string; readonly schedule: string };
  readonly ksdReleaseName: string;
  readonly ksdClusterReleaseName: string;
  /** What its operator reports; undefined while it has reported nothing. Amounts are Kubernetes' quantities, as `44Gi`. */
  readonly status:
    | {
        readonly totalResources:
          | {
              readonly nodes: string;
              readonly storage: string;
              readonly cpu: string;
              readonly memory: string;
            }
          | undefined;
        readonly meetsMinimumResources: boolean;
        readonly currentVersions:
          | {
              readonly kube: string;
              readonly koorOperator: string;
              readonly ksd: string;
              readonly ceph: string;
            }
          | undefined;
        readonly latestVersions:
          | {
              readonly koorOperator: KoorProductVersion | undefined;
              readonly ksd: KoorProductVersion | undefined;
              readonly ceph: KoorProductVersion | undefined;
            }
          | undefined;
      }
    | undefined;
}

/**
 * All that the gateway reads of a Kubernetes cluster: its nodes, and what is in the namespace of Rook. What `missing` says of a
 * part holds for that part alone: a right that the account lacks, or a kind that is not installed. Lists are by name.
 */
export interface KubernetesState {
  /** Of the API server, as `v1.36.3`; undefined when it does not tell. */
  readonly version: string | undefined;
  readonly nodes: Part<readonly KubernetesNode[]>;
  readonly storagePods: Part<readonly KubernetesStoragePod[]>;
  readonly deployments: Part<readonly KubernetesDeployment[]>;
  readonly cephClusters: Part<readonly RookObject[]>;
  readonly blockPools: Part<readonly RookObject[]>;
  readonly filesystems: Part<readonly RookObject[]>;
  readonly objectStores: Part<readonly RookObject[]>;
  readonly koorClusters: Part<readonly KoorClusterObject[]>;
}

/** `readAtMs` is when the cluster was last heard of: its watches tell what changes, and it is asked now and then whether it is there. */
export interface KubernetesSnapshot extends Snapshot<KubernetesState> {
  /** Why there is none that is newer; undefined while the cluster answers. */
  readonly staleBecause: string | undefined;
}

/** Something `hostplane doctor` and ListBackends tell about the system. */
export interface KubernetesFinding {
  readonly ok: boolean;
  readonly what: string;
  /** The command or edit that would mend it; only where `ok` is false. */
  readonly fix?: string;
}

export interface KubernetesInspection {
  /** Of the API server, e.g. `v1.36.3`; undefined when it cannot be reached. */
  readonly version: string | undefined;
  readonly findings: readonly KubernetesFinding[];
}

/**
 * A Kubernetes cluster that carries Rook. The real one watches its API server; the sandbox keeps one in memory. Both pass
 * test/adapters/kubernetes/contract.ts.
 */
export interface KubernetesAdapter {
  readonly kind: "real" | "sandbox";

  /**
   * The newest state, which watches keep: a reader asks the cluster nothing. It waits for the first state only. What cannot be
   * watched any more is told with its age, for 30 s.
   * @throws InfraError KUBERNETES_UNAVAILABLE or KUBERNETES_DENIED when there is none that young, and the signal's reason
   */
  read(signal?: AbortSignal): Promise<KubernetesSnapshot>;

  /** Calls back after what is told has changed, and when the cluster goes away or comes back. Returns the function that ends it. */
  subscribe(onChange: () => void): () => void;

  /** What is there and what is missing. Never throws. */
  inspect(): Promise<KubernetesInspection>;

  close(): Promise<void>;
}
