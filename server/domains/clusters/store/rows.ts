import type { TransactionContext } from "../../../store/transaction.ts";
import type {
  ClusterRecord,
  ClusterRow,
  ClusterStatusName,
  LabelRecord,
  PoolRecord,
  PoolRow,
  SlotRecord,
  SlotRow,
  SlotState,
} from "./records.ts";

/** Columns of a cluster that may be shown, and when it is due. The secrets are not among them. */
export const clusterColumns = [
  "name",
  "uid",
  "backend",
  "generation",
  "k8s_version",
  "control_plane_version",
  "control_plane_count",
  "control_plane_type",
  "control_plane_labels_json",
  "endpoint",
  "secrets_version",
  "is_deleting",
  "status",
  "message",
  "settled_generation",
  "has_run",
  "actor",
  "created_at",
  "due_at",
] as const;

/** A row without its secrets and its owner. */
export type KnownClusterRow = Pick<ClusterRow, (typeof clusterColumns)[number]>;

/** A cluster and those of its machines that are not released, oldest first. */
export interface ClusterWithSlots {
  readonly cluster: ClusterRecord;
  readonly slots: readonly SlotRecord[];
}

/** Reads clusters by name. The number of queries does not depend on the number of clusters. */
export async function readClusters(
  { db }: TransactionContext,
  names: readonly string[] | undefined,
): Promise<readonly ClusterWithSlots[]> {
  // PostgreSQL rejects an empty `in` list.
  if (names?.length === 0) {
    return [];
  }
  let clusters = db.selectFrom("clusters").select(clusterColumns).orderBy("name");
  let pools = db.selectFrom("cluster_pools").selectAll().orderBy("position");
  let slots = db.selectFrom("cluster_slots").selectAll().where("state", "<>", "released").orderBy("seq");
  if (names !== undefined) {
    clusters = clusters.where("name", "in", names);
    pools = pools.where("cluster", "in", names);
    slots = slots.where("cluster_uid", "in", ({ selectFrom }) =>
      selectFrom("clusters").select("uid").where("name", "in", names),
    );
  }
  const poolsOf = Map.groupBy(await pools.execute(), ({ cluster }) => cluster);
  const slotsOf = Map.groupBy(await slots.execute(), ({ cluster_uid }) => cluster_uid);
  return (await clusters.execute()).map((row) => ({
    cluster: clusterFromRows(row, poolsOf.get(row.name) ?? []),
    slots: (slotsOf.get(row.uid) ?? []).map(slotFromRow),
  }));
}

/** Reads the machines of a cluster that are not released, oldest first. */
export function readLiveSlots({ db }: TransactionContext, clusterUid: string): Promise<SlotRow[]> {
  return db
    .selectFrom("cluster_slots")
    .selectAll()
    .where("cluster_uid", "=", clusterUid)
    .where("state", "<>", "released")
    .orderBy("seq")
    .execute();
}

function clusterFromRows(row: KnownClusterRow, pools: readonly PoolRow[]): ClusterRecord {
  return {
    name: row.name,
    uid: row.uid,
    backend: row.backend,
    generation: row.generation,
    k8sVersion: row.k8s_version,
    controlPlaneVersion: row.control_plane_version,
    controlPlane: {
      instanceType: row.control_plane_type,
      labels: labelsFromJson(row.control_plane_labels_json),
      count: row.control_plane_count,
    },
    pools: pools.map(poolFromRow),
    endpoint: row.endpoint ?? undefined,
    secretsVersion: row.secrets_version,
    isDeleting: row.is_deleting === 1,
    status: row.status as ClusterStatusName,
    message: row.message,
    settledGeneration: row.settled_generation,
    hasRun: row.has_run === 1,
    actor: row.actor,
    createdAtMs: row.created_at,
  };
}

function poolFromRow({ name, instance_type, labels_json, count }: PoolRow): PoolRecord {
  return { name, instanceType: instance_type, labels: labelsFromJson(labels_json), count };
}

/** Converts the row of a machine: null becomes undefined, times stay in milliseconds since 1970. */
export function slotFromRow(row: SlotRow): SlotRecord {
  return {
    uid: row.uid,
    cluster: row.cluster,
    clusterUid: row.cluster_uid,
    pool: row.pool ?? undefined,
    instanceType: row.instance_type,
    labels: labelsFromJson(row.labels_json),
    k8sVersion: row.k8s_version,
    state: row.state as SlotState,
    candidateId: row.candidate_id ?? undefined,
    systemId: row.system_id ?? undefined,
    hostname: row.hostname ?? undefined,
    ipAddress: row.ip_address ?? undefined,
    sequence: row.sequence,
    message: row.message,
    reason: row.reason,
    attempts: row.attempts,
    nextTryAtMs: row.next_try_at,
    stateSinceMs: row.state_since,
    createdAtMs: row.created_at,
  };
}

function labelsFromJson(json: string): readonly LabelRecord[] {
  return JSON.parse(json) as LabelRecord[];
}
