import type { Kysely, Selectable } from "kysely";
import { appendEvents } from "../../events/store/events.ts";
import type { Schema } from "../../store/schema.ts";
import type { ChangeMode, TransactionContext } from "../../store/transaction.ts";
import { fleetEvent } from "./fleet-event.ts";
import { forgetInventory } from "./inventories.ts";
import type { FleetHostsTable } from "./tables.ts";

/** A host of the fleet, as stored. */
export interface HostRecord {
  readonly name: string;
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly joinedAtMs: number;
  readonly certificateExpiresAtMs: number;
  readonly lastSeenAtMs: number | undefined;
  /** JSON text; undefined before the host was first connected. */
  readonly report: string | undefined;
  /** Counts the changes of the host, except those of `lastSeenAtMs`. */
  readonly revision: number;
}

/** Shows whether a host has changed since it was read. */
export type HostState = Pick<HostRecord, "name" | "id" | "revision" | "lastSeenAtMs">;

/** A connected host. */
export interface SeenHost {
  readonly id: string;
  /** Its report as JSON; absent if it is the one that is stored. */
  readonly report?: string | undefined;
}

/** The host that was changed or removed, or the reason for the refusal. */
export type HostResult =
  | { readonly ok: true; readonly host: HostRecord }
  | { readonly ok: false; readonly why: "notFound" | "changed" };

/** The hosts of the fleet. */
export const hostTransactions = {
  /** Lists the states of all hosts by name. Reports are far larger, and are read by `fleet.hosts`. */
  async "fleet.hostStates"({ db }: TransactionContext): Promise<readonly HostState[]> {
    const rows = await db
      .selectFrom("fleet_hosts")
      .select(["name", "id", "revision", "last_seen_at"])
      .orderBy("name")
      .execute();
    return rows.map(({ name, id, revision, last_seen_at }) => ({
      name,
      id,
      revision,
      lastSeenAtMs: last_seen_at ?? undefined,
    }));
  },

  /** Returns those hosts that exist. */
  async "fleet.hosts"(
    { db }: TransactionContext,
    { ids }: { readonly ids: readonly string[] },
  ): Promise<readonly HostRecord[]> {
    const rows = await db.selectFrom("fleet_hosts").selectAll().where("id", "in", ids).execute();
    return rows.map(recordFromRow);
  },

  /** Replaces the labels of a host. */
  async "fleet.setLabels"(
    { db, notify }: TransactionContext,
    args: {
      readonly name: string;
      readonly labels: Readonly<Record<string, string>>;
    } & ChangeMode<HostRecord>,
  ): Promise<HostResult> {
    const row = await hostRow(db, args.name);
    if (row === undefined) {
      return { ok: false, why: "notFound" };
    }
    if (isAnother(row, args.since)) {
      return { ok: false, why: "changed" };
    }
    const change = { labels_json: JSON.stringify(args.labels), revision: row.revision + 1 };
    if (args.dryRun !== true) {
      await db.updateTable("fleet_hosts").set(change).where("name", "=", args.name).execute();
      notify("fleet");
    }
    return { ok: true, host: recordFromRow({ ...row, ...change }) };
  },

  /** Removes a host; its events stay. */
  async "fleet.removeHost"(
    context: TransactionContext,
    { name, dryRun, since }: { readonly name: string } & ChangeMode<HostRecord>,
  ): Promise<HostResult> {
    const { db, notify, lockEvents } = context;
    await lockEvents();
    const row = await hostRow(db, name);
    if (row === undefined) {
      return { ok: false, why: "notFound" };
    }
    if (isAnother(row, since)) {
      return { ok: false, why: "changed" };
    }
    if (dryRun !== true) {
      await db.deleteFrom("fleet_hosts").where("name", "=", name).execute();
      await db.deleteFrom("fleet_followed_hosts").where("host_id", "=", row.id).execute();
      await forgetInventory(context, row.id);
      await appendEvents(context, [fleetEvent("removed", name)]);
      notify("fleet");
    }
    return { ok: true, host: recordFromRow(row) };
  },

  /** Notes a new certificate of a host. @returns whether there is such a host */
  async "fleet.noteCertificate"(
    { db, notify }: TransactionContext,
    { id, expiresAtMs }: { readonly id: string; readonly expiresAtMs: number },
  ) {
    const rows = await db
      .updateTable("fleet_hosts")
      .set(({ eb }) => ({ certificate_expires_at: expiresAtMs, revision: eb("revision", "+", 1) }))
      .where("id", "=", id)
      .returning("name")
      .execute();
    notify("fleet");
    return { isKnown: rows.length > 0 };
  },

  /** Notes that hosts are connected, and the reports of those that have a new one. */
  async "fleet.noteSeen"(
    { db, nowMs, notify }: TransactionContext,
    { hosts }: { readonly hosts: readonly SeenHost[] },
  ): Promise<void> {
    const ids = hosts.map(({ id }) => id);
    await db.updateTable("fleet_hosts").set({ last_seen_at: nowMs }).where("id", "in", ids).execute();
    for (const { id, report } of hosts) {
      if (report !== undefined) {
        await db
          .updateTable("fleet_hosts")
          .set(({ eb }) => ({ report_json: report, revision: eb("revision", "+", 1) }))
          .where("id", "=", id)
          .execute();
      }
    }
    notify("fleet");
  },
};

function hostRow(db: Kysely<Schema>, name: string) {
  return db.selectFrom("fleet_hosts").selectAll().where("name", "=", name).executeTakeFirst();
}

/** Reports whether the name belongs to another host than it did. */
function isAnother({ id }: Selectable<FleetHostsTable>, since: HostRecord | undefined): boolean {
  return since !== undefined && since.id !== id;
}

function recordFromRow(row: Selectable<FleetHostsTable>): HostRecord {
  return {
    name: row.name,
    id: row.id,
    labels: JSON.parse(row.labels_json),
    joinedAtMs: row.joined_at,
    certificateExpiresAtMs: row.certificate_expires_at,
    lastSeenAtMs: row.last_seen_at ?? undefined,
    report: row.report_json ?? undefined,
    revision: row.revision,
  };
}
