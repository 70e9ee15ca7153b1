import type { Part } from "../host/part-of-state.ts";
import type { Snapshot } from "../host/snapshot.ts";

export interface KubernetesNode {
  readonly name: string;
  /**
   * The condition Ready, which is also false while the kubelet is silent; undefined if the node has no such condition.
   */
  readonly isReady: boolean | undefined;
  /** E.g. `control-plane`: from the labels `node-role.kubernetes.io/ROLE` and `kubernetes.io/role`, sorted. */
  readonly roles: readonly string[];
  /** Address, or else DNS name; empty if there is none. */
  readonly internalIp: string;
  readonly externalIp: string;
  /** Undefined if not reported. */
  readonly createdAtMs: number | undefined;
  /** Value of the label `topology.kubernetes.io/zone`. */
  readonly zone: string | undefined;
  /** Location of the node by Rook's labels `topology.rook.io/KIND`, e.g. `rack` to `r1`. */
  readonly rookTopology: ReadonlyMap<string, string>;
  readonly kubeletVersion: string;
}

/** A pod of a CephCluster's daemon that has not ended. */
export interface KubernetesStoragePod {
  readonly name: string;
  /** Undefined while it is not scheduled. */
  readonly node: string | undefined;
  /** The application, e.g. `rook-ceph-osd`; empty without the label `app`. */
  readonly app: string;
  readonly isReady: boolean;
}

export interface KubernetesDeployment {
  readonly namespace: string;
  readonly name: string;
  /**
   * Groups Deployments that are replicas of one service: Rook runs each daemon as a Deployment of one replica, so that
   * `rook-ceph-mon-a` and `-b` are both `rook-ceph-mon`. From the labels `app`, `rook_file_system` and
   * `rook_object_store`, e.g. `rook-ceph-mds/myfs`; undefined for Deployments that are not Rook daemons.
   */
  readonly service: string | undefined;
  readonly desiredReplicas: number;
  readonly readyReplicas: number;
  readonly updatedReplicas: number;
  readonly availableReplicas: number;
  /** Whether its controller has observed the current spec. */
  readonly isObserved: boolean;
  /** Whether a rollout is in progress: the condition Progressing, until its reason is NewReplicaSetAvailable. */
  readonly isProgressing: boolean;
  /** Whether a rollout has not completed in time. */
  readonly progressDeadlineExceeded: boolean;
  /** The distinct nodes of its ready pods, sorted; undefined when pods cannot be read. */
  readonly podNodes: readonly string[] | undefined;
}

export interface RookPool {
  readonly kind: "replicated" | "erasure";
  /** Number of copies or chunks of each object, and how many of them may be lost. */
  readonly size: number;
  readonly redundancy: number;
  /** Type of the failure domain: `host`, which is Rook's default, `osd`, `zone`, `rack`, ... */
  readonly failureDomain: string;
}

/** A CephCluster, CephBlockPool, CephFilesystem or CephObjectStore. */
export interface RookObject {
  /** E.g. `ceph.rook.io/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** `status.phase`, e.g. `Ready`; undefined if the operator has not set it. */
  readonly phase: string | undefined;
  /** `status.state`, e.g. `Created`, which only a CephCluster has. */
  readonly state: string | undefined;
  /** Whether the operator has observed the current spec. True for objects that do not report it. */
  readonly isObserved: boolean;
  readonly isDeleting: boolean;
  /**
   * Number of replicas as the original server counts them: the monitors of a cluster, copies or chunks of a pool,
   * metadata servers of a file system (each active one has a standby), gateways of an object store. Undefined if the
   * object does not specify it.
   */
  readonly desiredReplicas: number | undefined;
  /** The values of `service` of the Deployments that run it, e.g. `rook-ceph-mds/myfs`; empty for a pool. */
  readonly services: readonly string[];
  /** The object's pools; for a pool, the pool itself; empty for a cluster. */
  readonly pools: readonly RookPool[];
}

/** A version of a product and its image; empty if not reported. */
export interface KoorProductVersion {
  readonly version: string;
  readonly imageUri: string;
  readonly imageHash: string;
  readonly helmRepository: string;
  readonly helmChart: string;
}

/** A KoorCluster of `storage.koor.tech/v1alpha1`; absent fields have the defaults of its definition. */
export interface KoorClusterObject {
  readonly namespace: string;
  readonly name: string;
  readonly useAllDevices: boolean;
  readonly monitoringEnabled: boolean;
  readonly dashboardEnabled: boolean;
  readonly toolboxEnabled: boolean;
  /** `mode` is e.g. `disabled`, `notify` or `upgrade`. */
  readonly upgradeOptions: { readonly mode: string; readonly endpoint: string; readonly schedule: string };
  readonly ksdReleaseName: string;
  readonly ksdClusterReleaseName: string;
  /** Status set by its operator; undefined until then. Amounts are Kubernetes quantities, e.g. `44Gi`. */
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
 * Everything that the gateway reads from a Kubernetes cluster: its nodes, and the objects in Rook's namespace. A
 * `missing` concerns only its own part: e.g. a permission that the account lacks, or a kind that is not installed.
 * Lists are sorted by name.
 */
export interface KubernetesState {
  /** Version of the API server, e.g. `v1.36.3`; undefined if not reported. */
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

/**
 * `readAtMs` is when the cluster last answered: watches deliver changes, and heartbeats check periodically that the
 * cluster is reachable.
 */
export interface KubernetesSnapshot extends Snapshot<KubernetesState> {
  /** Why there is no newer state; undefined while the cluster answers. */
  readonly staleBecause: string | undefined;
}

/** A check result that `hostplane doctor` and ListBackends report. */
export interface KubernetesFinding {
  readonly ok: boolean;
  readonly what: string;
  /** The command or edit that fixes the problem; only where `ok` is false. */
  readonly fix?: string;
}

export interface KubernetesInspection {
  /** Version of the API server, e.g. `v1.36.3`; undefined when it cannot be reached. */
  readonly version: string | undefined;
  readonly findings: readonly KubernetesFinding[];
}

/**
 * A Kubernetes cluster that runs Rook. The real adapter watches its API server; the sandbox keeps a cluster in memory.
 * Both pass test/adapters/kubernetes/contract.ts.
 */
export interface KubernetesAdapter {
  readonly kind: "real" | "sandbox";

  /**
   * Returns the current state, which is updated by watches: a read sends no request. It waits only for the first state.
   * A state that can no longer be watched is still returned for 30 s, with its age.
   * @throws InfraError KUBERNETES_UNAVAILABLE or KUBERNETES_DENIED when there is no state that recent, and the signal's
   *   reason
   */
  read(signal?: AbortSignal): Promise<KubernetesSnapshot>;

  /**
   * Calls back after the state has changed, and when the cluster becomes unreachable or reachable again. Returns a
   * function that unsubscribes.
   */
  subscribe(onChange: () => void): () => void;

  /** Checks the access to the cluster. Never throws. */
  inspect(): Promise<KubernetesInspection>;

  close(): Promise<void>;
}
