import type { Insertable } from "kysely";
import type { TransactionContext } from "../../../store/transaction.ts";
import { type FencedCluster, heldCluster } from "./fence.ts";
import { publishMachineEvents } from "./machine-events.ts";
import type { NewSlot, SlotChange, SlotRecord, SlotRow } from "./records.ts";
import { readLiveSlots, slotFromRow } from "./rows.ts";
import { readSequence, writeSequence } from "./sequence.ts";
import type { ClusterMachineEventsTable, ClusterSlotsTable } from "./tables.ts";

interface ChangedSlot {
  readonly change: SlotChange;
  readonly before: SlotRow;
  readonly after: SlotRow;
}

export const clusterSlotTransactions = {
  /**
   * Writes the changes of a pass to machines, all or nothing: it writes nothing if the claim is lost, or if one of the machines
   * is no longer in the expected state.
   * @returns those machines of the cluster that are not released, oldest first, and the highest sequence number in use
   */
  async "clusters.writeSlots"(
    context: TransactionContext,
    args: { fenced: FencedCluster; add: readonly NewSlot[]; change: readonly SlotChange[] },
  ): Promise<
    | { readonly ok: true; readonly slots: readonly SlotRecord[]; readonly sequence: number }
    | { readonly ok: false }
  > {
    const { db, nowMs, notify } = context;
    const cluster = await heldCluster(context, args.fenced);
    if (cluster === undefined) {
      return { ok: false };
    }
    const slots = new Map((await readLiveSlots(context, cluster.uid)).map((row) => [row.uid, row]));
    const sequence = await readSequence(context);
    let taken = sequence;
    const changed: ChangedSlot[] = [];
    for (const change of args.change) {
      const before = slots.get(change.uid);
      if (before?.state !== change.from) {
        return { ok: false };
      }
      taken += change.takeSequence === true ? 1 : 0;
      const numbered = change.takeSequence === true ? { ...before, sequence: taken } : before;
      const after = changedRow(numbered, change, nowMs);
      slots.set(change.uid, after);
      changed.push({ change, before, after });
    }
    if (taken !== sequence) {
      await writeSequence(context, taken);
    }
    for (const { after } of changed) {
      const { seq, ...set } = after;
      await db.updateTable("cluster_slots").set(set).where("seq", "=", seq).execute();
    }
    const added = await insertSlots(
      context,
      args.add.map((slot) => newRow(slot, cluster, nowMs)),
    );
    await insertMachineEvents(context, changed.flatMap(machineEventOf));
    const moved = changed.filter(({ before, after }) => before.state !== after.state);
    await publishMachineEvents(context, [...moved.map(({ after }) => after), ...added]);
    if (moved.length > 0 || added.length > 0) {
      notify("clusters");
    }
    const live = [...slots.values(), ...added].filter(({ state }) => state !== "released");
    return { ok: true, slots: live.map(slotFromRow), sequence: taken };
  },
};

/** Builds the row of a slot without a machine. */
export function newRow(
  { uid, pool, instanceType, labels, k8sVersion }: NewSlot,
  cluster: { readonly name: string; readonly uid: string },
  nowMs: number,
): Omit<SlotRow, "seq"> {
  return {
    uid,
    cluster: cluster.name,
    cluster_uid: cluster.uid,
    pool: pool ?? null,
    instance_type: instanceType,
    labels_json: JSON.stringify(labels),
    k8s_version: k8sVersion,
    state: "wanted",
    candidate_id: null,
    system_id: null,
    hostname: null,
    ip_address: null,
    sequence: 0,
    message: "",
    reason: "",
    attempts: 0,
    next_try_at: 0,
    state_since: nowMs,
    created_at: nowMs,
  };
}

async function insertSlots(
  { db }: TransactionContext,
  rows: readonly Insertable<ClusterSlotsTable>[],
): Promise<SlotRow[]> {
  const inserted: SlotRow[] = [];
  for (const row of rows) {
    inserted.push(await db.insertInto("cluster_slots").values(row).returningAll().executeTakeFirstOrThrow());
  }
  return inserted;
}

/** Adds entries to the history of machines. */
export async function insertMachineEvents(
  { db, nowMs }: TransactionContext,
  events: readonly Omit<ClusterMachineEventsTable, "seq" | "at">[],
): Promise<void> {
  for (const event of events) {
    await db
      .insertInto("cluster_machine_events")
      .values({ ...event, at: nowMs })
      .execute();
  }
}

function changedRow(row: SlotRow, change: SlotChange, nowMs: number): SlotRow {
  const state = change.state ?? row.state;
  return {
    ...row,
    state,
    state_since: state === row.state ? row.state_since : nowMs,
    candidate_id: change.candidateId === undefined ? row.candidate_id : change.candidateId,
    system_id: change.systemId === undefined ? row.system_id : change.systemId,
    hostname: change.hostname ?? row.hostname,
    ip_address: change.ipAddress ?? row.ip_address,
    message: change.message ?? row.message,
    reason: change.reason ?? row.reason,
    attempts: change.attempts ?? row.attempts,
    next_try_at: change.nextTryInMs === undefined ? row.next_try_at : nowMs + change.nextTryInMs,
  };
}

/** Builds the history entry of a change. A candidate is always recorded, so that its machine can be recognized later. */
function machineEventOf({ change, before, after }: ChangedSlot) {
  const isCandidate = after.candidate_id !== null && after.candidate_id !== before.candidate_id;
  if (change.history === undefined && !isCandidate) {
    return [];
  }
  return [
    {
      cluster: after.cluster,
      slot_uid: after.uid,
      system_id: after.system_id ?? after.candidate_id ?? before.system_id ?? before.candidate_id,
      state: after.state,
      is_failure: change.history?.isFailure === true ? 1 : 0,
      message: change.history?.message ?? after.message,
    },
  ];
}
