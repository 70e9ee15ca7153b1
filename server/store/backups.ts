import { type Insertable, type Selectable, sql } from "kysely";
import { isBelow } from "./is-below.ts";
import type { BackupsTable } from "./schema.ts";
import type { TransactionContext } from "./transaction.ts";

export type BackupRow = Selectable<BackupsTable>;
export type NewBackupRow = Insertable<BackupsTable>;

/** Which backups to read; every filter that is set must be met. */
export interface BackupFilters {
  /** The volume's resource, or what it is below. */
  readonly volume?: string;
  readonly name?: string;
  readonly schedule?: string;
  readonly host?: string;
}

/** A backup by what its owner calls it. */
export interface BackupAddress {
  readonly host: string;
  /** Resource of the volume. */
  readonly volume: string;
  readonly name: string;
}

/** Backups of volumes that are stored somewhere, and which operation the polls of CreateBackup ask about. */
export const backupTransactions = {
  async "backups.get"({ db }: TransactionContext, { id }: { id: string }): Promise<BackupRow | undefined> {
    return db.selectFrom("backups").selectAll().where("id", "=", id).executeTakeFirst();
  },

  /** Newest first, below a number; `nextSeq` is where the next page begins. */
  async "backups.list"(
    { db }: TransactionContext,
    { filters, belowSeq, limit }: { filters: BackupFilters; belowSeq: number | undefined; limit: number },
  ) {
    let query = db
      .selectFrom("backups")
      .selectAll()
      .orderBy("seq", "desc")
      .limit(limit + 1);
    const { volume, name, schedule, host } = filters;
    if (belowSeq !== undefined) {
      query = query.where("seq", "<", belowSeq);
    }
    if (volume !== undefined) {
      query = query.where(sql<boolean>`(volume = ${volume} or ${isBelow("volume", volume)})`);
    }
    if (name !== undefined) {
      query = query.where("name", "=", name);
    }
    if (schedule !== undefined) {
      query = query.where("schedule", "=", schedule);
    }
    if (host !== undefined) {
      query = query.where("host", "=", host);
    }
    const rows: readonly BackupRow[] = await query.execute();
    const page = rows.slice(0, limit);
    return { rows: page, nextSeq: rows.length > limit ? page.at(-1)?.seq : undefined };
  },

  /**
   * What is known of a name: for each of the volumes that has one, its backup, or else the operation that was last asked
   * to make it.
   */
  async "backups.named"(
    { db }: TransactionContext,
    { host, volumes, name }: { host: string; volumes: readonly string[]; name: string },
  ) {
    const backups: readonly BackupRow[] = await db
      .selectFrom("backups")
      .selectAll()
      .where(({ and }) => and({ host, name }))
      .where("volume", "in", volumes)
      .execute();
    const requests = await db
      .selectFrom("backup_requests")
      .selectAll()
      .where(({ and }) => and({ host, name }))
      .where("volume", "in", volumes)
      .execute();
    return { backups, requests };
  },

  /**
   * Whether backups are stored at a place.
   * @param repositories the place, as `repository_json` may have it
   * @param host only those of this host
   */
  async "backups.areAt"(
    { db }: TransactionContext,
    { repositories, host }: { repositories: readonly string[]; host?: string },
  ) {
    let query = db.selectFrom("backups").select("id").where("repository_json", "in", repositories);
    if (host !== undefined) {
      query = query.where("host", "=", host);
    }
    return { areAny: (await query.limit(1).executeTakeFirst()) !== undefined };
  },

  /**
   * Writes a backup down; once more does nothing.
   * @returns whether it stands there; false when its volume has another backup of this name
   */
  async "backups.record"({ db }: TransactionContext, { backup }: { backup: NewBackupRow }) {
    await db
      .insertInto("backups")
      .values(backup)
      .onConflict((conflict) => conflict.columns(["host", "volume", "name"]).doNothing())
      .execute();
    const row = await db.selectFrom("backups").select("id").where("id", "=", backup.id).executeTakeFirst();
    return { ok: row !== undefined };
  },

  /** Writes down what a verification has found: `damage` is null when the backup is whole. */
  async "backups.verified"(
    { db, nowMs }: TransactionContext,
    { id, damage }: { id: string; damage: string | null },
  ) {
    await db
      .updateTable("backups")
      .set({ damage, ...(damage === null ? { verified_at: nowMs } : {}) })
      .where("id", "=", id)
      .execute();
  },

  /** Forgets backups, so that their names are free. */
  async "backups.remove"({ db }: TransactionContext, { ids }: { ids: readonly string[] }) {
    // PostgreSQL knows no empty list.
    if (ids.length === 0) {
      return;
    }
    const rows = await db
      .selectFrom("backups")
      .select(["host", "volume", "name"])
      .where("id", "in", ids)
      .execute();
    for (const address of rows) {
      await db
        .deleteFrom("backup_requests")
        .where(({ and }) => and(address))
        .execute();
    }
    await db.deleteFrom("backups").where("id", "in", ids).execute();
  },

  /** Forgets all backups of a host. */
  async "backups.removeOf"({ db }: TransactionContext, { host }: { host: string }) {
    await db.deleteFrom("backup_requests").where("host", "=", host).execute();
    await db.deleteFrom("backups").where("host", "=", host).execute();
  },

  /** Keeps which operation the next poll asks about. */
  async "backups.ask"(
    { db }: TransactionContext,
    { address, operationId }: { address: BackupAddress; operationId: string },
  ) {
    await db
      .insertInto("backup_requests")
      .values({ ...address, operation_id: operationId })
      .onConflict((conflict) =>
        conflict.columns(["host", "volume", "name"]).doUpdateSet({ operation_id: operationId }),
      )
      .execute();
  },

  /** Asks about an operation no more; returns whether this call has ended it. */
  async "backups.endAsking"(
    { db }: TransactionContext,
    { address, operationId }: { address: BackupAddress; operationId: string },
  ) {
    const { numDeletedRows } = await db
      .deleteFrom("backup_requests")
      .where(({ and }) => and({ ...address, operation_id: operationId }))
      .executeTakeFirst();
    return { ended: numDeletedRows > 0n };
  },
};
