import { sql } from "kysely";
import { type ListQueryOptions, listQuery } from "../../../../server/operations/store/list-query.ts";
import type { TransactionContext } from "../../../../server/store/transaction.ts";

/** Number of resources whose operations `list.fill` creates. */
export const resourceCount = 500;

/** Transactions that show how a list of operations is read. */
export const transactions = {
  /** Creates ended operations, in turn for each resource and for one below it. */
  async "list.fill"(
    { db }: TransactionContext,
    { count, isPostgres }: { count: number; isPostgres: boolean },
  ): Promise<void> {
    await sql`
      insert into operations (
        id, kind, resource, backend, system, rpc, actor, account_id, input_json, state, message,
        waiting_for,
        attempt, cancel_requested, past_return, fence, lease_until, not_before, created_at, ended_at
      )
      with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${sql.lit(count)})
      select
        'operation-' || n, 'volumes.clone',
        'volumes/' || n % ${sql.lit(resourceCount)} || case when n % 3 = 0 then '/parts/a' else '' end,
        '', 'lvm', 'a/b', 'root', '', '{}', 'completed', '', '', 1, 0, 0, 0, 0, 0, n, n
      from numbers
    `.execute(db);
    // As autovacuum does; nothing does it for SQLite.
    await (isPostgres && sql`analyze operations`.execute(db));
  },

  /** Returns the lines of the database's plan for a page. */
  async "list.explain"(
    { db }: TransactionContext,
    { isPostgres, ...options }: ListQueryOptions & { isPostgres: boolean },
  ): Promise<string[]> {
    const query = listQuery({ db }, options);
    const rows = isPostgres
      ? await query.explain<Record<string, unknown>>()
      : await query.explain<Record<string, unknown>>(undefined, sql`query plan`);
    return rows.map((row) => String(row.detail ?? row["QUERY PLAN"]));
  },
} as const;
