import type { Generated } from "kysely";

/** What is wanted of a Kubernetes cluster, and how it is. */
export interface ClustersTable {
  name: string;
  /** Of this cluster: another of the same name has another. */
  uid: string;
  /** Identity of the MAAS whose machines it has. */
  backend: string;
  /** Counted up by every change of what is wanted. */
  generation: number;
  k8s_version: string;
  control_plane_version: string;
  control_plane_count: number;
  control_plane_type: string;
  control_plane_labels_json: string;
  /** An IP address that no other cluster has. Null: the first machine's. */
  endpoint: string | null;
  secrets_sealed: Uint8Array;
  /** Counted up by every change of the secrets. */
  secrets_version: number;
  /** 0 or 1. */
  is_deleting: number;
  /** As in `ClusterRecord`. */
  status: string;
  message: string;
  /** The generation that was last found to be in place. */
  settled_generation: number;
  /** 0 or 1: whether it has ever been running. */
  has_run: number;
  actor: string;
  created_at: number;
  /** Instance id of the gateway that works on it. */
  owner: string | null;
  /** Counted up by every claim: a write of an older one is refused. */
  fence: number;
  lease_until: number;
  /** When it is to be looked at next. */
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

/** The life of one machine in a cluster, which ends as a tombstone. */
export interface ClusterSlotsTable {
  seq: Generated<number>;
  uid: string;
  cluster: string;
  cluster_uid: string;
  /** Null: of the control plane. */
  pool: string | null;
  instance_type: string;
  labels_json: string;
  k8s_version: string;
  state: string;
  /** What the machine is taken as, written down before it is; kept for ever. */
  candidate_id: string | null;
  /** Unique among those that are not released. */
  system_id: string | null;
  hostname: string | null;
  ip_address: string | null;
  /** Of `cluster_sequence` when the machine was taken; 0: not yet. */
  sequence: number;
  message: string;
  /** Why it last failed: a reason of the error table, or empty. */
  reason: string;
  attempts: number;
  next_try_at: number;
  state_since: number;
  created_at: number;
}

/** What has happened to the machines of clusters. */
export interface ClusterMachineEventsTable {
  seq: Generated<number>;
  at: number;
  cluster: string;
  slot_uid: string;
  system_id: string | null;
  state: string;
  /** 0 or 1: whether the machine is to blame. */
  is_failure: number;
  message: string;
}
