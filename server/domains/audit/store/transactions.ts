import { sql } from "kysely";
import type { TransactionContext } from "../../../store/transaction.ts";
import type { AuditEventsTable } from "./tables.ts";

/** The part of an audit row that is known when the call begins. */
export interface AuditCallRow
  extends Pick<
    AuditEventsTable,
    | "actor"
    | "account_id"
    | "credential"
    | "address"
    | "listener"
    | "rpc"
    | "request_id"
    | "request_json"
    | "backend"
    | "instance_id"
    | "host"
  > {}

/** The part of an audit row that is known when the call has ended. */
export type AuditOutcome = Pick<AuditEventsTable, "code" | "reason" | "resource" | "operation_id"> &
  Partial<Pick<AuditEventsTable, "host" | "plan_id" | "approved_by_json">>;

/** Refused calls that share a row. `call` and `outcome` describe the most recent one. */
export interface AuditRefusals {
  readonly call: AuditCallRow;
  readonly outcome: AuditOutcome;
  /** Groups the calls: those with the same key in the same minute share a row. */
  readonly key: string;
  readonly count: number;
}

/** Filters for audit rows; a row must match every filter that is set. */
export interface AuditFilters {
  readonly fromMs?: number;
  readonly toMs?: number;
  readonly actor?: string;
  readonly address?: string;
  /** Full name of a method or of a service. */
  readonly rpc?: string;
  /** A resource; resources below it match too. */
  readonly resource?: string;
  /** Null: rows without a code. */
  readonly code?: string | null;
}

const minuteMs = 60_000;

/** The audit log. */
export const auditTransactions = {
  /** Adds a row for a call that begins, or for one that has ended. Returns the row's number. */
  async "audit.add"(
    { db, nowMs }: TransactionContext,
    { call, outcome }: { call: AuditCallRow; outcome: AuditOutcome | undefined },
  ) {
    const ended = outcome === undefined ? {} : { ...outcome, ended_at: nowMs };
    const { seq } = await db
      .insertInto("audit_events")
      .values({ ...call, at: nowMs, ...ended })
      .returning("seq")
      .executeTakeFirstOrThrow();
    return { seq };
  },

  /** Completes the row of a call that has ended. */
  async "audit.end"(
    { db, nowMs }: TransactionContext,
    { seq, outcome }: { seq: number; outcome: AuditOutcome },
  ) {
    await db
      .updateTable("audit_events")
      .set({ ...outcome, ended_at: nowMs })
      .where("seq", "=", seq)
      .execute();
  },

  /** Adds refused calls to the rows of their keys for the current minute. */
  async "audit.addRefusals"(
    { db, nowMs }: TransactionContext,
    { refusals }: { refusals: readonly AuditRefusals[] },
  ) {
    const at = nowMs - (nowMs % minuteMs);
    for (const { call, outcome, key, count } of refusals) {
      const row = { ...call, ...outcome, at, ended_at: nowMs, count, sum_key: `${at} ${key}` };
      await db
        .insertInto("audit_events")
        .values(row)
        .onConflict((conflict) =>
          conflict.column("sum_key").doUpdateSet({ ...row, count: sql`audit_events.count + ${count}` }),
        )
        .execute();
    }
  },

  /**
   * Scans rows below `belowSeq`, newest first, and returns those that match the filters. To bound its duration, it scans at
   * most `scanned` rows. `nextSeq` is where to continue; undefined at the end of the log.
   */
  async "audit.list"(
    { db }: TransactionContext,
    {
      filters,
      belowSeq,
      limit,
      scanned,
    }: { filters: AuditFilters; belowSeq: number; limit: number; scanned: number },
  ) {
    const some = db
      .selectFrom("audit_events")
      .selectAll()
      .where("seq", "<", belowSeq)
      .orderBy("seq", "desc")
      .limit(scanned);
    const { lowest, scannedRows } = await db
      .selectFrom(some.as("some"))
      .select(({ fn }) => [fn.min("seq").as("lowest"), fn.countAll<number>().as("scannedRows")])
      .executeTakeFirstOrThrow();
    let query = db.selectFrom(some.as("some")).selectAll().orderBy("seq", "desc").limit(limit);
    const { fromMs, toMs, actor, address, rpc, resource, code } = filters;
    if (fromMs !== undefined) {
      query = query.where("at", ">=", fromMs);
    }
    if (toMs !== undefined) {
      query = query.where("at", "<", toMs);
    }
    if (actor !== undefined) {
      query = query.where("actor", "=", actor);
    }
    if (address !== undefined) {
      query = query.where("address", "=", address);
    }
    if (rpc !== undefined) {
      query = query.where(sql<boolean>`(rpc = ${rpc} or ${isBelow("rpc", rpc)})`);
    }
    if (resource !== undefined) {
      query = query.where(sql<boolean>`(resource = ${resource} or ${isBelow("resource", resource)})`);
    }
    if (code !== undefined) {
      query = code === null ? query.where("code", "is", null) : query.where("code", "=", code);
    }
    const rows = await query.execute();
    const last = rows.length === limit ? rows.at(-1)?.seq : undefined;
    const isEnd = last === undefined && Number(scannedRows) < scanned;
    return { rows, nextSeq: isEnd ? undefined : (last ?? Number(lowest)) };
  },

  /**
   * Removes up to `limit` rows that are older than `keepMs` and returns their number. Scans only the rows with the lowest
   * numbers, which are the oldest.
   */
  async "audit.purge"(
    { db, nowMs }: TransactionContext,
    { keepMs, limit }: { keepMs: number; limit: number },
  ) {
    const oldest = db.selectFrom("audit_events").select(["seq", "at"]).orderBy("seq").limit(limit);
    const expired = db
      .selectFrom(oldest.as("oldest"))
      .select("seq")
      .where("at", "<", nowMs - keepMs);
    const { numDeletedRows } = await db
      .deleteFrom("audit_events")
      .where("seq", "in", expired)
      .executeTakeFirst();
    return { count: Number(numDeletedRows) };
  },
};

/** Builds a prefix condition: both databases compare text byte by byte, and `0` is the character after `/`. */
function isBelow(column: "rpc" | "resource", parent: string) {
  return sql<boolean>`(${sql.ref(column)} >= ${`${parent}/`} and ${sql.ref(column)} < ${`${parent}0`})`;
}

type AuditTransactions = typeof auditTransactions;

declare module "../../../store/store.ts" {
  interface GatewayTransactions extends AuditTransactions {}
}
