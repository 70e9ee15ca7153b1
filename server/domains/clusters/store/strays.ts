import type { TransactionContext } from "../../../store/transaction.ts";
import { holdsPlace } from "./holds-place.ts";
import { publishMachineEvents } from "./machine-events.ts";
import type { NewSlot, SlotRecord, SlotRow, SlotState } from "./records.ts";
import { readLiveSlots, slotFromRow } from "./rows.ts";
import { readSequence, writeSequence } from "./sequence.ts";
import { insertMachineEvents, newRow } from "./slots.ts";

/** A machine without a slot, and the slot that it was deployed for. */
export interface AdoptedSlot extends NewSlot {
  readonly cluster: string;
  readonly clusterUid: string;
  readonly systemId: string;
  readonly hostname: string;
  readonly ipAddress?: string;
  /** The number that the machine is marked with. */
  readonly sequence: number;
  readonly state: "booted";
}

/** Lookup and adoption of machines, across all clusters. */
export const clusterStrayTransactions = {
  /**
   * Returns every slot, released ones included, that has one of the UIDs, or has one of the machines as its machine or its
   * candidate. Also returns for which slots the machines were ever allocated or candidates, most recent first.
   */
  async "clusters.trace"(
    { db }: TransactionContext,
    { systemIds, slotUids }: { systemIds: readonly string[]; slotUids: readonly string[] },
  ): Promise<{
    readonly slots: readonly SlotRecord[];
    readonly candidates: readonly { readonly slotUid: string; readonly systemId: string }[];
  }> {
    if (systemIds.length === 0 && slotUids.length === 0) {
      return { slots: [], candidates: [] };
    }
    const slots = await db
      .selectFrom("cluster_slots")
      .selectAll()
      .where(({ or, eb }) =>
        or([
          ...(systemIds.length > 0
            ? [eb("system_id", "in", systemIds), eb("candidate_id", "in", systemIds)]
            : []),
          ...(slotUids.length > 0 ? [eb("uid", "in", slotUids)] : []),
        ]),
      )
      .orderBy("seq")
      .execute();
    const events =
      systemIds.length === 0
        ? []
        : await db
            .selectFrom("cluster_machine_events")
            .select(["slot_uid", "system_id"])
            .where("system_id", "in", systemIds)
            .groupBy(["slot_uid", "system_id"])
            .orderBy(({ fn }) => fn.max("seq"), "desc")
            .execute();
    return {
      slots: slots.map(slotFromRow),
      candidates: events.map(({ slot_uid, system_id }) => ({ slotUid: slot_uid, systemId: system_id ?? "" })),
    };
  },

  /**
   * Adopts a machine into a cluster, in the slot that the machine is marked with; a released slot of this UID is reused. Later
   * machines get higher sequence numbers than the machine's. The cluster is due immediately. Only an adopted slot is `booted`
   * from the start.
   * @returns `notFound`: there is no such cluster, or it has no such pool; `taken`: the slot is in use, or another slot that is
   * not released has this machine; `full`: the pool or control plane has all of its machines, and one would have to be released
   */
  async "clusters.adopt"(
    context: TransactionContext,
    { slot, message = "" }: { slot: AdoptedSlot; message?: string },
  ): Promise<
    | { readonly ok: true; readonly slot: SlotRecord }
    | { readonly ok: false; readonly why: "notFound" | "stopping" | "taken" | "full" }
  > {
    const { db, nowMs, notify } = context;
    const { uid, cluster: name, clusterUid, systemId, sequence } = slot;
    const cluster = await db
      .selectFrom("clusters")
      .select(["name", "uid", "is_deleting", "control_plane_count"])
      .where(({ and }) => and({ name, uid: clusterUid }))
      .executeTakeFirst();
    if (cluster === undefined) {
      return { ok: false, why: "notFound" };
    }
    if (cluster.is_deleting === 1) {
      return { ok: false, why: "stopping" };
    }
    if (await isTaken(context, uid, systemId)) {
      return { ok: false, why: "taken" };
    }
    const { pool } = slot;
    const count = pool === undefined ? cluster.control_plane_count : await countOf(context, name, pool);
    if (count === undefined) {
      return { ok: false, why: "notFound" };
    }
    const group = (await readLiveSlots(context, clusterUid)).filter((row) => row.pool === (pool ?? null));
    if (group.filter((row) => holdsPlace({ pool, state: row.state as SlotState })).length >= count) {
      return { ok: false, why: "full" };
    }
    if (sequence > (await readSequence(context))) {
      await writeSequence(context, sequence);
    }
    const adopted = {
      ...newRow(slot, cluster, nowMs),
      state: slot.state,
      candidate_id: systemId,
      system_id: systemId,
      hostname: slot.hostname,
      ip_address: slot.ipAddress ?? null,
      sequence,
      message,
    };
    const row: SlotRow = await db
      .insertInto("cluster_slots")
      .values(adopted)
      .onConflict((conflict) => conflict.column("uid").doUpdateSet(adopted))
      .returningAll()
      .executeTakeFirstOrThrow();
    await db.updateTable("clusters").set({ due_at: 0 }).where("name", "=", name).execute();
    const { state, system_id } = row;
    await insertMachineEvents(context, [
      { cluster: name, slot_uid: uid, system_id, state, is_failure: 0, message },
    ]);
    await publishMachineEvents(context, [row]);
    notify("clusters");
    return { ok: true, slot: slotFromRow(row) };
  },

  /** Counts the recent failures that each machine caused; machines without failures are left out. */
  async "clusters.failures"(
    { db, nowMs }: TransactionContext,
    { systemIds, sinceMsAgo }: { systemIds: readonly string[]; sinceMsAgo: number },
  ): Promise<readonly { readonly systemId: string; readonly count: number }[]> {
    if (systemIds.length === 0) {
      return [];
    }
    const rows = await db
      .selectFrom("cluster_machine_events")
      .select(({ fn }) => ["system_id", fn.countAll<number>().as("count")])
      .where("system_id", "in", systemIds)
      .where("is_failure", "=", 1)
      .where("at", ">=", nowMs - sinceMsAgo)
      .groupBy("system_id")
      .orderBy("system_id")
      .execute();
    return rows.map(({ system_id, count }) => ({ systemId: system_id ?? "", count: Number(count) }));
  },
};

async function countOf(
  { db }: TransactionContext,
  cluster: string,
  name: string,
): Promise<number | undefined> {
  const pool = await db
    .selectFrom("cluster_pools")
    .select("count")
    .where(({ and }) => and({ cluster, name }))
    .executeTakeFirst();
  return pool?.count;
}

async function isTaken({ db }: TransactionContext, uid: string, systemId: string): Promise<boolean> {
  const row = await db
    .selectFrom("cluster_slots")
    .select("uid")
    .where("state", "<>", "released")
    .where(({ or }) => or({ uid, system_id: systemId, candidate_id: systemId }))
    .executeTakeFirst();
  return row !== undefined;
}
