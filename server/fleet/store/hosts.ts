import type { Kysely, Selectable } from "kysely";
import { appendEvents } from "../../events/store/events.ts";
import type { Schema } from "../../store/schema.ts";
import type { DryRun, TransactionContext } from "../../store/transaction.ts";
import { fleetEvent } from "./fleet-event.ts";
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
}

/** The hosts of the fleet. */
export const hostTransactions = {
  /** Lists the hosts by name. */
  async "fleet.hosts"({ db }: TransactionContext): Promise<readonly HostRecord[]> {
    const rows = await db.selectFrom("fleet_hosts").selectAll().orderBy("name").execute();
    return rows.map(recordFromRow);
  },

  /** Replaces the labels of a host. @returns the host; undefined if there is none */
  async "fleet.setLabels"(
    { db, notify }: TransactionContext,
    args: { readonly name: string; readonly labels: Readonly<Record<string, string>> } & DryRun,
  ): Promise<HostRecord | undefined> {
    const row = await hostRow(db, args.name);
    if (row === undefined) {
      return undefined;
    }
    const change = { labels_json: JSON.stringify(args.labels) };
    if (args.dryRun !== true) {
      await db.updateTable("fleet_hosts").set(change).where("name", "=", args.name).execute();
      notify("fleet");
    }
    return recordFromRow({ ...row, ...change });
  },

  /** Removes a host; its events stay. @returns the host; undefined if there is none */
  async "fleet.removeHost"(
    context: TransactionContext,
    { name, dryRun }: { readonly name: string } & DryRun,
  ): Promise<HostRecord | undefined> {
    const { db, notify, lockEvents } = context;
    await lockEvents();
    const row = await hostRow(db, name);
    if (row !== undefined && dryRun !== true) {
      await db.deleteFrom("fleet_hosts").where("name", "=", name).execute();
      await db.deleteFrom("fleet_followed_hosts").where("host_id", "=", row.id).execute();
      await appendEvents(context, [fleetEvent("removed", name)]);
      notify("fleet");
    }
    return row === undefined ? undefined : recordFromRow(row);
  },

  /** Notes a new certificate of a host. @returns whether there is such a host */
  async "fleet.noteCertificate"(
    { db, notify }: TransactionContext,
    { name, expiresAtMs }: { readonly name: string; readonly expiresAtMs: number },
  ) {
    const rows = await db
      .updateTable("fleet_hosts")
      .set({ certificate_expires_at: expiresAtMs })
      .where("name", "=", name)
      .returning("name")
      .execute();
    notify("fleet");
    return { isKnown: rows.length > 0 };
  },

  /** Notes that hosts are connected, and what they have reported; a report that is absent stays as it was. */
  async "fleet.noteSeen"(
    { db, nowMs, notify }: TransactionContext,
    { hosts }: { readonly hosts: readonly { readonly name: string; readonly report?: string | undefined }[] },
  ): Promise<void> {
    for (const { name, report } of hosts) {
      await db
        .updateTable("fleet_hosts")
        .set({ last_seen_at: nowMs, ...(report === undefined ? {} : { report_json: report }) })
        .where("name", "=", name)
        .execute();
    }
    notify("fleet");
  },
};

function hostRow(db: Kysely<Schema>, name: string) {
  return db.selectFrom("fleet_hosts").selectAll().where("name", "=", name).executeTakeFirst();
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
  };
}
