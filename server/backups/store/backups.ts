import { type Insertable, type Selectable, sql } from "kysely";
import type { TransactionContext } from "../../store/transaction.ts";
import { isBelow } from "./is-below.ts";
import type { BackupsTable } from "./tables.ts";

export type BackupRow = Selectable<BackupsTable>;
export type NewBackupRow = Insertable<BackupsTable>;

/** Filters for backups; a backup must match every filter that is set. */
export interface BackupFilters {
  /** A volume's resource, or a resource above it. */
  readonly volume?: string;
  readonly name?: string;
  readonly schedule?: string;
  readonly host?: string;
}

/** Identifies a backup by host, volume and name. */
export interface BackupAddress {
  readonly host: string;
  /** Resource name of the volume. */
  readonly volume: string;
  readonly name: string;
}

/** Stored backups of volumes, and the operations that polls of CreateBackup report. */
export const storedBackupTransactions = {
  async "backups.get"({ db }: TransactionContext, { id }: { id: string }): Promise<BackupRow | undefined> {
    return db.selectFrom("backups").selectAll().where("id", "=", id).executeTakeFirst();
  },

  /** Lists backups, newest first, starting below `belowSeq`. `nextSeq` is where the next page begins. */
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
   * Returns for each volume when its newest backup was taken that is not known to be damaged (milliseconds of the database's
   * clock, as `nowMs`), and how many backups are damaged.
   * @param host if set, only backups of this host count
   */
  async "backups.newestGood"({ db, nowMs }: TransactionContext, { host }: { host?: string }) {
    let good = db
      .selectFrom("backups")
      .select(({ fn }) => ["host", "volume", fn.max("at").as("at")])
      .where("damage", "is", null)
      .groupBy(["host", "volume"]);
    let damaged = db
      .selectFrom("backups")
      .select(({ fn }) => fn.countAll().as("count"))
      .where("damage", "is not", null);
    if (host !== undefined) {
      good = good.where("host", "=", host);
      damaged = damaged.where("host", "=", host);
    }
    const rows = await good.execute();
    const { count } = await damaged.executeTakeFirstOrThrow();
    // PostgreSQL returns bigint as text.
    return {
      rows: rows.map((row) => ({ ...row, at: Number(row.at) })),
      damagedCount: Number(count),
      nowMs,
    };
  },

  /**
   * Returns what is known of a backup name: for each volume its backup of this name, or else the operation that was last
   * asked to create it.
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
   * Reports whether any backups are stored in a repository.
   * @param repositories the possible values of `repository_json`
   * @param host if set, only backups of this host count
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
   * Records a backup. Idempotent.
   * @returns `ok`: false when the volume has another backup of this name
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

  /** Records the result of a verification: `damage` is null when the backup is intact. */
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

  /** Removes backups from the catalog and so frees their names. */
  async "backups.remove"({ db }: TransactionContext, { ids }: { ids: readonly string[] }) {
    // PostgreSQL rejects an empty `in` list.
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

  /** Removes all backups of a host from the catalog. */
  async "backups.removeOf"({ db }: TransactionContext, { host }: { host: string }) {
    await db.deleteFrom("backup_requests").where("host", "=", host).execute();
    await db.deleteFrom("backups").where("host", "=", host).execute();
  },

  /** Stores which operation the next poll of CreateBackup reports. */
  async "backups.track"(
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

  /** Removes the stored operation; `ended` reports whether this call removed it. */
  async "backups.untrack"(
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
