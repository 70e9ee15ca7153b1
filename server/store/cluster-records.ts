import type { Selectable } from "kysely";
import type {
  ClusterMachineEventsTable,
  ClusterPoolsTable,
  ClusterSlotsTable,
  ClustersTable,
} from "./cluster-tables.ts";

/** As cnct.kaas.api.ClusterStatus, in small letters. */
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

/** A set of machines that is wanted. */
export interface PoolRecord {
  readonly name: string;
  readonly instanceType: string;
  readonly labels: readonly LabelRecord[];
  readonly count: number;
}

/** What is wanted of a cluster, and how it was last found to be; without its secrets. */
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
  /** An IP address; undefined: that of its first machine. */
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

/** A cluster in brief. */
export type ClusterSummary = Pick<ClusterRecord, "name" | "backend" | "status" | "message">;

/** How far a machine is; see `ClusterMachineState` in the contract. */
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

/** The life of one machine in a cluster. */
export interface SlotRecord {
  readonly uid: string;
  readonly cluster: string;
  readonly clusterUid: string;
  /** Undefined: of the control plane. */
  readonly pool: string | undefined;
  readonly instanceType: string;
  readonly labels: readonly LabelRecord[];
  readonly k8sVersion: string;
  readonly state: SlotState;
  /** Written down before it is taken. */
  readonly candidateId: string | undefined;
  /** The machine that it has, or may have. */
  readonly systemId: string | undefined;
  readonly hostname: string | undefined;
  readonly ipAddress: string | undefined;
  /** Grows with each machine that this store takes; 0: none was taken. */
  readonly sequence: number;
  /** For people. */
  readonly message: string;
  /** Why it last failed: a reason of the error table, or empty. */
  readonly reason: string;
  /** How often in a row it has failed in this state. */
  readonly attempts: number;
  readonly nextTryAtMs: number;
  readonly stateSinceMs: number;
  readonly createdAtMs: number;
}

/** Something that happened to a machine. */
export interface MachineEventRecord {
  readonly atMs: number;
  readonly slotUid: string;
  readonly systemId: string | undefined;
  readonly state: SlotState;
  /** Whether the machine is to blame. */
  readonly isFailure: boolean;
  readonly message: string;
}

/** A slot to make, which is `wanted`. */
export type NewSlot = Pick<SlotRecord, "uid" | "pool" | "instanceType" | "labels" | "k8sVersion">;

/** What to change of a slot; what is undefined stays, null is unset. Times are told as delays: the clock that counts is the store's. */
export interface SlotChange {
  readonly uid: string;
  /** A slot that is no longer in this state is left alone, and the whole write is refused as lost. */
  readonly from: SlotState;
  readonly state?: SlotState;
  readonly candidateId?: string | null;
  readonly systemId?: string | null;
  readonly hostname?: string;
  readonly ipAddress?: string;
  /** Gives it the next number of the store's sequence. */
  readonly takeSequence?: boolean;
  readonly message?: string;
  readonly reason?: string;
  readonly attempts?: number;
  readonly nextTryInMs?: number;
  /** Writes down in its history what happened; together with `message`. */
  readonly history?: { readonly message: string; readonly isFailure?: boolean };
}

export type ClusterRow = Selectable<ClustersTable>;
export type PoolRow = Selectable<ClusterPoolsTable>;
export type SlotRow = Selectable<ClusterSlotsTable>;
export type MachineEventRow = Selectable<ClusterMachineEventsTable>;
