import type { Kysely, Selectable } from "kysely";
import type { Schema } from "../../../store/schema.ts";
import type { TransactionContext } from "../../../store/transaction.ts";
import type { LoginFailuresTable } from "./tables.ts";

/** A counter of failed logins, and the number of failures that it allows without a delay. */
export interface FailureCounter {
  readonly key: string;
  readonly freeFailures: number;
}

/** State that `loginFailures.takeBack` needs to undo a count. */
export interface CountedFailure {
  readonly before: FailureRow | undefined;
  readonly after: FailureRow;
}

type FailureRow = Selectable<LoginFailuresTable>;

/** An attempt that was counted, or that came too early. */
export type CountedAttempt =
  | { readonly ok: true; readonly counted: readonly CountedFailure[] }
  | { readonly ok: false; readonly retryAfterMs: number };

const firstDelayMs = 1000;
const maxDelayMs = 15 * 60 * 1000;
/** Number of doublings that reach the longest delay. */
const maxDoublings = 10;
/** Each period of this length without a failure forgives one, so that an office's daily typing errors never add up. */
const forgetMs = maxDelayMs;
/** Longer than it takes for any count to drop to zero. */
const keptMs = 24 * 60 * 60 * 1000;
const maxRows = 100_000;

/** Failed logins. Each attempt is counted as failed before its result is known, so that parallel attempts all count. */
export const loginFailureTransactions = {
  /**
   * Counts an attempt on each counter, unless one of them is still blocked: then on none.
   * @param isPurgeDue whether to remove expired rows, and the oldest rows above the limit
   */
  async "loginFailures.count"(
    { db, nowMs }: TransactionContext,
    { counters, isPurgeDue }: { counters: readonly FailureCounter[]; isPurgeDue: boolean },
  ): Promise<CountedAttempt> {
    const counted: CountedFailure[] = [];
    let blockedUntilMs = nowMs;
    for (const counter of counters) {
      const before = await rowOf(db, counter.key);
      counted.push({ before, after: rowAfterFailure(before, counter, nowMs) });
      blockedUntilMs = Math.max(blockedUntilMs, before?.blocked_until ?? 0);
    }
    if (blockedUntilMs > nowMs) {
      return { ok: false, retryAfterMs: blockedUntilMs - nowMs };
    }
    for (const { after } of counted) {
      await writeRow(db, after);
    }
    if (isPurgeDue) {
      await purge(db, nowMs);
    }
    return { ok: true, counted };
  },

  /** Undoes the count of an attempt that did not fail. Later counts remain. */
  async "loginFailures.takeBack"(
    { db }: TransactionContext,
    {
      counted,
      forgottenKeys,
    }: {
      counted: readonly CountedFailure[];
      /** Counters to reset to zero. */
      forgottenKeys: readonly string[];
    },
  ): Promise<void> {
    for (const { before, after } of counted) {
      const row = await rowOf(db, after.key);
      const isUnchanged = row?.failures === after.failures && row.last_failure_at === after.last_failure_at;
      if (forgottenKeys.includes(after.key) || (isUnchanged && before === undefined)) {
        await db.deleteFrom("login_failures").where("key", "=", after.key).execute();
      } else if (isUnchanged && before !== undefined) {
        await writeRow(db, before);
      } else if (row !== undefined) {
        await writeRow(db, { ...row, failures: Math.max(row.failures - 1, 0) });
      }
    }
  },
};

/** Returns the row after one more failure: after the free failures the delay is one second, doubled with each failure. */
export function rowAfterFailure(
  before: FailureRow | undefined,
  { key, freeFailures }: FailureCounter,
  nowMs: number,
): FailureRow {
  const forgotten = before === undefined ? 0 : Math.floor((nowMs - before.last_failure_at) / forgetMs);
  const known = Math.max((before?.failures ?? 0) - Math.max(forgotten, 0), 0);
  const failures = Math.min(known + 1, freeFailures + maxDoublings);
  const delayMs =
    failures < freeFailures ? 0 : Math.min(firstDelayMs * 2 ** (failures - freeFailures), maxDelayMs);
  return { key, failures, blocked_until: nowMs + delayMs, last_failure_at: nowMs };
}

function rowOf(db: Kysely<Schema>, key: string): Promise<FailureRow | undefined> {
  return db.selectFrom("login_failures").selectAll().where("key", "=", key).executeTakeFirst();
}

async function writeRow(db: Kysely<Schema>, { key, ...values }: FailureRow): Promise<void> {
  await db
    .insertInto("login_failures")
    .values({ key, ...values })
    .onConflict((conflict) => conflict.column("key").doUpdateSet(values))
    .execute();
}

async function purge(db: Kysely<Schema>, nowMs: number): Promise<void> {
  await db
    .deleteFrom("login_failures")
    .where("last_failure_at", "<", nowMs - keptMs)
    .execute();
  const { count } = await db
    .selectFrom("login_failures")
    .select((select) => select.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  const excess = Number(count) - maxRows;
  if (excess > 0) {
    const oldest = db.selectFrom("login_failures").select("key").orderBy("last_failure_at").limit(excess);
    await db.deleteFrom("login_failures").where("key", "in", oldest).execute();
  }
}
