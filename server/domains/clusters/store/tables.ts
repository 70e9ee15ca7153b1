import type { Generated } from "kysely";

declare module "../../../store/schema.ts" {
  interface Schema {
    clusters: ClustersTable;
    cluster_pools: ClusterPoolsTable;
    cluster_slots: ClusterSlotsTable;
    cluster_machine_events: ClusterMachineEventsTable;
  }
}

/** Spec and observed state of a Kubernetes cluster. */
export interface ClustersTable {
  name: string;
  /** Unique: a later cluster of the same name has another one. */
  uid: string;
  /** ID of the MAAS that its machines come from. */
  backend: string;
  /** Incremented by every change to the spec. */
  generation: number;
  k8s_version: string;
  control_plane_version: string;
  control_plane_count: number;
  control_plane_type: string;
  control_plane_labels_json: string;
  /** An IP address that no other cluster uses. Null: the first machine's. */
  endpoint: string | null;
  secrets_sealed: Uint8Array;
  /** Incremented by every change to the secrets. */
  secrets_version: number;
  /** 0 or 1. */
  is_deleting: number;
  /** As in `ClusterRecord`. */
  status: string;
  message: string;
  /** Latest generation that was found in place. */
  settled_generation: number;
  /** 0 or 1: whether it has ever been running. */
  has_run: number;
  actor: string;
  created_at: number;
  /** Instance ID of the gateway that works on it. */
  owner: string | null;
  /** Incremented by every claim; writes with an older fence are refused. */
  fence: number;
  lease_until: number;
  /** When its next pass is due. */
  due_at: number;
}

export interface ClusterPoolsTable {
  cluster: string;
  name: string;
  position: number;
  instance_type: string;
  labels_json: string;
  count: number;
}

/** Life of one machine in a cluster. A released slot is kept as a tombstone. */
export interface ClusterSlotsTable {
  seq: Generated<number>;
  uid: string;
  cluster: string;
  cluster_uid: string;
  /** Null: the control plane. */
  pool: string | null;
  instance_type: string;
  labels_json: string;
  k8s_version: string;
  state: string;
  /** The machine that is about to be allocated; recorded first and kept for good. */
  candidate_id: string | null;
  /** Unique among the slots that are not released. */
  system_id: string | null;
  hostname: string | null;
  ip_address: string | null;
  /** Number of `cluster_sequence` when the machine was allocated; 0: not yet. */
  sequence: number;
  message: string;
  /** Reason of the last failure from the error table, or empty. */
  reason: string;
  attempts: number;
  next_try_at: number;
  state_since: number;
  created_at: number;
}

/** History of the machines of clusters. */
export interface ClusterMachineEventsTable {
  seq: Generated<number>;
  at: number;
  cluster: string;
  slot_uid: string;
  system_id: string | null;
  state: string;
  /** 0 or 1: whether the machine caused a failure. */
  is_failure: number;
  message: string;
}
