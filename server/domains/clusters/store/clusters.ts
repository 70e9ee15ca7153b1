import type { TransactionContext } from "../../../store/transaction.ts";
import type {
  ClusterStatusName,
  ClusterSummary,
  MachineEventRecord,
  MachineEventRow,
  SlotRecord,
  SlotState,
} from "./records.ts";
import { type ClusterWithSlots, readClusters, slotFromRow } from "./rows.ts";
import { readSequence } from "./sequence.ts";

/** Bounds on the history that `clusters.machines` returns. */
const maxReleasedSlots = 200;
const maxMachineEvents = 5000;

/** Reads of Kubernetes clusters. Only `clusters.secrets` and `clusters.claim` return secrets. */
export const clusterRecordTransactions = {
  /** Returns the ID that marks machines as this store's, and the highest sequence number that one of them was given. */
  async "clusters.installation"(context: TransactionContext, _args: Record<string, never>) {
    const { value } = await context.db
      .selectFrom("meta")
      .select("value")
      .where("name", "=", "cluster_installation")
      .executeTakeFirstOrThrow();
    return { installationId: value, sequence: await readSequence(context) };
  },

  /** Lists all clusters in short form, by name. */
  async "clusters.list"(
    { db }: TransactionContext,
    _args: Record<string, never>,
  ): Promise<readonly ClusterSummary[]> {
    const rows = await db
      .selectFrom("clusters")
      .select(["name", "backend", "status", "message"])
      .orderBy("name")
      .execute();
    return rows.map((row) => ({ ...row, status: row.status as ClusterStatusName }));
  },

  /** Returns clusters by name, with those of their machines that are not released; without `names`, all clusters. */
  async "clusters.states"(
    context: TransactionContext,
    { names }: { names?: readonly string[] },
  ): Promise<readonly ClusterWithSlots[]> {
    return readClusters(context, names);
  },

  async "clusters.get"(
    context: TransactionContext,
    { name }: { name: string },
  ): Promise<ClusterWithSlots | undefined> {
    const [found] = await readClusters(context, [name]);
    return found;
  },

  async "clusters.secrets"({ db }: TransactionContext, { name }: { name: string }) {
    const row = await db
      .selectFrom("clusters")
      .select(["uid", "secrets_sealed", "secrets_version"])
      .where("name", "=", name)
      .executeTakeFirst();
    return row === undefined
      ? undefined
      : {
          uid: row.uid,
          secretsSealed: new Uint8Array(row.secrets_sealed),
          secretsVersion: row.secrets_version,
        };
  },

  /** Returns the machines of a cluster, including the most recently released ones, and their history; both oldest first. */
  async "clusters.machines"(
    { db }: TransactionContext,
    { name }: { name: string },
  ): Promise<
    { readonly slots: readonly SlotRecord[]; readonly events: readonly MachineEventRecord[] } | undefined
  > {
    const cluster = await db.selectFrom("clusters").select("uid").where("name", "=", name).executeTakeFirst();
    if (cluster === undefined) {
      return undefined;
    }
    const slots = db.selectFrom("cluster_slots").selectAll().where("cluster_uid", "=", cluster.uid);
    const live = await slots.where("state", "<>", "released").orderBy("seq").execute();
    const released = await slots
      .where("state", "=", "released")
      .orderBy("seq", "desc")
      .limit(maxReleasedSlots)
      .execute();
    const events = await db
      .selectFrom("cluster_machine_events")
      .selectAll()
      .where("slot_uid", "in", ({ selectFrom }) =>
        selectFrom("cluster_slots").select("uid").where("cluster_uid", "=", cluster.uid),
      )
      .orderBy("seq", "desc")
      .limit(maxMachineEvents)
      .execute();
    const rows = [...live, ...released].toSorted((a, b) => a.seq - b.seq);
    const shown = new Set(rows.map(({ uid }) => uid));
    return {
      slots: rows.map(slotFromRow),
      events: events
        .filter(({ slot_uid }) => shown.has(slot_uid))
        .toReversed()
        .map(machineEventFromRow),
    };
  },
};

function machineEventFromRow(row: MachineEventRow): MachineEventRecord {
  return {
    atMs: row.at,
    slotUid: row.slot_uid,
    systemId: row.system_id ?? undefined,
    state: row.state as SlotState,
    isFailure: row.is_failure === 1,
    message: row.message,
  };
}
