import type { Selectable } from "kysely";
import type { TransactionContext } from "../../store/transaction.ts";
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
    { name, labels }: { readonly name: string; readonly labels: Readonly<Record<string, string>> },
  ): Promise<HostRecord | undefined> {
    const row = await db
      .updateTable("fleet_hosts")
      .set({ labels_json: JSON.stringify(labels) })
      .where("name", "=", name)
      .returningAll()
      .executeTakeFirst();
    notify("fleet");
    return row === undefined ? undefined : recordFromRow(row);
  },

  /** Removes a host. @returns whether there was one */
  async "fleet.removeHost"({ db, notify }: TransactionContext, { name }: { readonly name: string }) {
    const rows = await db.deleteFrom("fleet_hosts").where("name", "=", name).returning("name").execute();
    notify("fleet");
    return { isRemoved: rows.length > 0 };
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
