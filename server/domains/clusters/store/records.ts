import type { Selectable } from "kysely";
import type {
  ClusterMachineEventsTable,
  ClusterPoolsTable,
  ClusterSlotsTable,
  ClustersTable,
} from "./tables.ts";

/** Values of `cnct.kaas.api.ClusterStatus`, in lower case. */
export type ClusterStatusName =
  | "provisioning"
  | "running"
  | "reconciling"
  | "stopping"
  | "error"
  | "degraded";

/** A label of a Kubernetes node. */
export interface LabelRecord {
  readonly name: string;
  readonly value: string;
}

/** A set of machines in the spec. */
export interface PoolRecord {
  readonly name: string;
  readonly instanceType: string;
  readonly labels: readonly LabelRecord[];
  readonly count: number;
}

/** Spec and last observed state of a cluster, without its secrets. */
export interface ClusterRecord {
  readonly name: string;
  readonly uid: string;
  readonly backend: string;
  readonly generation: number;
  readonly k8sVersion: string;
  readonly controlPlaneVersion: string;
  readonly controlPlane: Omit<PoolRecord, "name">;
  /** In the order in which they were added. */
  readonly pools: readonly PoolRecord[];
  /** An IP address; undefined: the address of its first machine. */
  readonly endpoint: string | undefined;
  readonly secretsVersion: number;
  readonly isDeleting: boolean;
  readonly status: ClusterStatusName;
  readonly message: string;
  readonly settledGeneration: number;
  /** Whether it has ever been running. */
  readonly hasRun: boolean;
  readonly actor: string;
  readonly createdAtMs: number;
}

/** Short form of a cluster. */
export type ClusterSummary = Pick<ClusterRecord, "name" | "backend" | "status" | "message">;

/** Progress of a machine; see `ClusterMachineState` in the contract. */
export type SlotState =
  | "wanted"
  | "candidate"
  | "allocated"
  | "annotated"
  | "deploying"
  | "booted"
  | "joined"
  | "draining"
  | "releasing"
  | "released";

/** Life of one machine in a cluster. */
export interface SlotRecord {
  readonly uid: string;
  readonly cluster: string;
  readonly clusterUid: string;
  /** Undefined: the control plane. */
  readonly pool: string | undefined;
  readonly instanceType: string;
  readonly labels: readonly LabelRecord[];
  readonly k8sVersion: string;
  readonly state: SlotState;
  /** The machine that is about to be allocated; recorded first. */
  readonly candidateId: string | undefined;
  /** The machine that is, or may be, allocated. */
  readonly systemId: string | undefined;
  readonly hostname: string | undefined;
  readonly ipAddress: string | undefined;
  /** Increases with each machine that this store allocates; 0: none was allocated. */
  readonly sequence: number;
  /** Free text for users. */
  readonly message: string;
  /** Reason of the last failure from the error table, or empty. */
  readonly reason: string;
  /** Number of consecutive failures in this state. */
  readonly attempts: number;
  readonly nextTryAtMs: number;
  readonly stateSinceMs: number;
  readonly createdAtMs: number;
}

/** An event in the history of a machine. */
export interface MachineEventRecord {
  readonly atMs: number;
  readonly slotUid: string;
  readonly systemId: string | undefined;
  readonly state: SlotState;
  /** Whether the machine caused a failure. */
  readonly isFailure: boolean;
  readonly message: string;
}

/** A slot to create, in state `wanted`. */
export type NewSlot = Pick<SlotRecord, "uid" | "pool" | "instanceType" | "labels" | "k8sVersion">;

/** Changes to a slot: undefined keeps a value, null clears it. Times are delays, because only the store's clock counts. */
export interface SlotChange {
  readonly uid: string;
  /** Expected state. If the slot is in another state, the whole write is refused. */
  readonly from: SlotState;
  readonly state?: SlotState;
  readonly candidateId?: string | null;
  readonly systemId?: string | null;
  readonly hostname?: string;
  readonly ipAddress?: string;
  /** Assigns the next number of the store's sequence. */
  readonly takeSequence?: boolean;
  readonly message?: string;
  readonly reason?: string;
  readonly attempts?: number;
  readonly nextTryInMs?: number;
  /** Adds an entry to the machine's history. */
  readonly history?: { readonly message: string; readonly isFailure?: boolean };
}

export type ClusterRow = Selectable<ClustersTable>;
export type PoolRow = Selectable<ClusterPoolsTable>;
export type SlotRow = Selectable<ClusterSlotsTable>;
export type MachineEventRow = Selectable<ClusterMachineEventsTable>;
