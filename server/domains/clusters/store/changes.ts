import type { DryRun, TransactionContext } from "../../../store/transaction.ts";
import { freeEndpoints } from "./endpoints.ts";
import { publishClusterEvent, statusOnChange } from "./machine-events.ts";
import type { ClusterRecord, PoolRecord } from "./records.ts";

/** A cluster to create. */
export interface NewCluster
  extends Pick<
    ClusterRecord,
    "name" | "uid" | "backend" | "k8sVersion" | "controlPlaneVersion" | "controlPlane" | "pools" | "actor"
  > {
  readonly secretsSealed: Uint8Array;
}

/** A change to the spec of a cluster, based on the given generation. */
export interface ClusterChange extends DryRun {
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly set?: {
    readonly k8sVersion?: string;
    readonly controlPlaneVersion?: string;
    readonly isDeleting?: true;
  };
  /** Pools to add, under names that the cluster does not use, or that `removePools` frees. */
  readonly addPools?: readonly PoolRecord[];
  readonly removePools?: readonly string[];
  /** New sizes of existing pools. */
  readonly scale?: readonly Pick<PoolRecord, "name" | "count">[];
}

/** Changes to the specs of Kubernetes clusters. */
export const clusterChangeTransactions = {
  /**
   * Adds a cluster.
   * @param endpoints candidate addresses; the cluster gets the first that no cluster uses. Empty: it gets none.
   */
  async "clusters.create"(
    context: TransactionContext,
    { cluster, endpoints, dryRun }: { cluster: NewCluster; endpoints: readonly string[] } & DryRun,
  ): Promise<
    | { readonly ok: true; readonly endpoint: string | undefined }
    | { readonly ok: false; readonly why: "exists" | "noEndpoint" }
  > {
    const { db, nowMs, notify } = context;
    const { name, controlPlane } = cluster;
    const same = await db.selectFrom("clusters").select("uid").where("name", "=", name).executeTakeFirst();
    if (same !== undefined) {
      return { ok: false, why: "exists" };
    }
    const endpoint = (await freeEndpoints(context, endpoints))[0];
    if (endpoint === undefined && endpoints.length > 0) {
      return { ok: false, why: "noEndpoint" };
    }
    if (dryRun === true) {
      return { ok: true, endpoint };
    }
    const initial = { status: statusOnChange(false, false), message: "", generation: 1 };
    await db
      .insertInto("clusters")
      .values({
        ...initial,
        name,
        uid: cluster.uid,
        backend: cluster.backend,
        k8s_version: cluster.k8sVersion,
        control_plane_version: cluster.controlPlaneVersion,
        control_plane_count: controlPlane.count,
        control_plane_type: controlPlane.instanceType,
        control_plane_labels_json: JSON.stringify(controlPlane.labels),
        endpoint: endpoint ?? null,
        secrets_sealed: cluster.secretsSealed,
        secrets_version: 1,
        is_deleting: 0,
        settled_generation: 0,
        has_run: 0,
        actor: cluster.actor,
        created_at: nowMs,
        owner: null,
        fence: 0,
        lease_until: 0,
        due_at: 0,
      })
      .execute();
    await insertPools(context, name, cluster.pools, 0);
    await publishClusterEvent(context, "created", { ...initial, name });
    notify("clusters");
    return { ok: true, endpoint };
  },

  /** Changes the spec if the generation is unchanged, and makes the cluster due immediately. */
  async "clusters.change"(
    context: TransactionContext,
    args: ClusterChange,
  ): Promise<
    | { readonly ok: true; readonly generation: number }
    | { readonly ok: false; readonly why: "notFound" | "changed" }
  > {
    const { db, notify } = context;
    const { name, set = {} } = args;
    const before = await db
      .selectFrom("clusters")
      .select(["uid", "generation", "status", "is_deleting", "has_run"])
      .where("name", "=", name)
      .executeTakeFirst();
    if (before?.uid !== args.uid) {
      return { ok: false, why: "notFound" };
    }
    if (before.generation !== args.generation) {
      return { ok: false, why: "changed" };
    }
    const generation = before.generation + 1;
    if (args.dryRun === true) {
      return { ok: true, generation };
    }
    const isDeleting = before.is_deleting === 1 || set.isDeleting === true;
    const changed = { status: statusOnChange(isDeleting, before.has_run === 1), message: "", generation };
    await db
      .updateTable("clusters")
      .set({
        ...changed,
        is_deleting: isDeleting ? 1 : 0,
        due_at: 0,
        ...(set.k8sVersion === undefined ? {} : { k8s_version: set.k8sVersion }),
        ...(set.controlPlaneVersion === undefined ? {} : { control_plane_version: set.controlPlaneVersion }),
      })
      .where("name", "=", name)
      .execute();
    await changePools(context, args);
    await publishClusterEvent(context, "changed", { ...changed, name, previousStatus: before.status });
    notify("clusters");
    return { ok: true, generation };
  },

  /** Replaces the secrets of a cluster, unless they were replaced since they were read. */
  async "clusters.setSecrets"(
    { db }: TransactionContext,
    args: { name: string; uid: string; secretsVersion: number; secretsSealed: Uint8Array },
  ): Promise<{ readonly ok: boolean }> {
    const { numUpdatedRows } = await db
      .updateTable("clusters")
      .set({ secrets_sealed: args.secretsSealed, secrets_version: args.secretsVersion + 1 })
      .where("name", "=", args.name)
      .where("uid", "=", args.uid)
      .where("secrets_version", "=", args.secretsVersion)
      .executeTakeFirstOrThrow();
    return { ok: numUpdatedRows === 1n };
  },
};

async function changePools(
  context: TransactionContext,
  { name: cluster, addPools = [], removePools = [], scale = [] }: ClusterChange,
): Promise<void> {
  const { db } = context;
  if (removePools.length > 0) {
    await db
      .deleteFrom("cluster_pools")
      .where("cluster", "=", cluster)
      .where("name", "in", removePools)
      .execute();
  }
  const { last } = await db
    .selectFrom("cluster_pools")
    .select(({ fn }) => fn.max("position").as("last"))
    .where("cluster", "=", cluster)
    .executeTakeFirstOrThrow();
  await insertPools(context, cluster, addPools, Number(last ?? -1) + 1);
  for (const { name, count } of scale) {
    const { numUpdatedRows } = await db
      .updateTable("cluster_pools")
      .set({ count })
      .where("cluster", "=", cluster)
      .where("name", "=", name)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows !== 1n) {
      throw new Error("a pool to be scaled does not exist");
    }
  }
}

async function insertPools(
  { db }: TransactionContext,
  cluster: string,
  pools: readonly PoolRecord[],
  position: number,
): Promise<void> {
  if (pools.length > 0) {
    await db
      .insertInto("cluster_pools")
      .values(
        pools.map(({ name, instanceType, labels, count }, index) => ({
          cluster,
          name,
          position: position + index,
          instance_type: instanceType,
          labels_json: JSON.stringify(labels),
          count,
        })),
      )
      .execute();
  }
}
