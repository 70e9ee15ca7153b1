import type { Selectable } from "kysely";
import type { TransactionContext } from "../../store/transaction.ts";
import type { EventsTable } from "./tables.ts";

/** An event to append. */
export interface NewEvent {
  readonly topic: string;
  readonly type: string;
  readonly resource: string;
  /** Empty: it did not happen on a host. */
  readonly host: string;
  /** The operation that caused it; undefined if there is none. */
  readonly operationId?: string | undefined;
  /** Full names of the services that give a caller access to it. */
  readonly services: readonly string[];
  /** Plain data; its shape depends on the topic. */
  readonly payload: unknown;
}

/** Appends events within a transaction. */
export async function appendEvents(
  { db, nowMs, notify, lockEvents }: TransactionContext,
  events: readonly NewEvent[],
): Promise<void> {
  if (events.length === 0) {
    return;
  }
  await lockEvents();
  for (const { topic, type, resource, host, operationId, services, payload } of events) {
    await db
      .insertInto("events")
      .values({
        at: nowMs,
        topic,
        type,
        resource,
        host,
        operation_id: operationId ?? null,
        services: JSON.stringify(services),
        payload_json: JSON.stringify(payload),
      })
      .execute();
  }
  notify("events");
}

/** An event as stored in its table. */
export type EventRow = Selectable<EventsTable>;

/** Upper bound of how long transactions that write events, from several gateways, may wait for each other. */
const disorderMs = 60_000;

/** The event log, in order. */
export const eventLogTransactions = {
  /** Appends events that belong to no other transaction. */
  async "events.append"(context: TransactionContext, { events }: { events: readonly NewEvent[] }) {
    await appendEvents(context, events);
  },

  /** Returns the epoch, the newest event number, and the highest number that was purged. */
  async "events.head"(context: TransactionContext) {
    const { epoch, goneSeq } = await readFacts(context);
    return { epoch, goneSeq, headSeq: await readHeadSeq(context, goneSeq) };
  },

  /**
   * Reads the next events after a number, in order; with `operationId` only those about that operation. If the number is below
   * `goneSeq`, events in between were purged.
   */
  async "events.read"(
    context: TransactionContext,
    {
      afterSeq,
      upToSeq = Number.MAX_SAFE_INTEGER,
      operationId,
      limit,
    }: { afterSeq: number; upToSeq?: number; operationId?: string; limit: number },
  ) {
    const { goneSeq } = await readFacts(context);
    let query = context.db
      .selectFrom("events")
      .selectAll()
      .where("seq", ">", afterSeq)
      .where("seq", "<=", upToSeq)
      .orderBy("seq")
      .limit(limit);
    if (operationId !== undefined) {
      query = query.where("operation_id", "=", operationId);
    }
    return { rows: await query.execute(), goneSeq };
  },

  /** Returns the position before the first event at or after a time; `isKept` is false when such events were purged. */
  async "events.atTime"(context: TransactionContext, { atMs }: { atMs: number }) {
    const { goneSeq, goneAtMs } = await readFacts(context);
    if (goneAtMs !== undefined && atMs <= goneAtMs) {
      return { isKept: false as const, goneSeq };
    }
    // Event times are the start times of transactions, so an event can precede another one with an earlier time.
    const smallest = await context.db
      .selectFrom("events")
      .select("at")
      .where("at", ">=", atMs)
      .orderBy("at")
      .limit(1)
      .executeTakeFirst();
    if (smallest === undefined) {
      return { isKept: true as const, seq: await readHeadSeq(context, goneSeq) };
    }
    const { first } = await context.db
      .selectFrom("events")
      .select(({ fn }) => fn.min("seq").as("first"))
      .where("at", ">=", atMs)
      .where("at", "<=", smallest.at + disorderMs)
      .executeTakeFirstOrThrow();
    return { isKept: true as const, seq: Number(first) - 1 };
  },

  /**
   * Removes up to `limit` of the oldest events that are older than `keepMs`, and returns their number. Events that are more
   * than `keepMs` in the future were written while a clock was wrong; they are removed too, because they would block the purge
   * until then.
   */
  async "events.purge"(context: TransactionContext, { keepMs, limit }: { keepMs: number; limit: number }) {
    const { db, nowMs } = context;
    const oldest = await db.selectFrom("events").select(["seq", "at"]).orderBy("seq").limit(limit).execute();
    const kept = oldest.findIndex(({ at }) => at >= nowMs - keepMs && at <= nowMs + keepMs);
    const expired = kept === -1 ? oldest : oldest.slice(0, kept);
    const last = expired.at(-1);
    if (last === undefined) {
      return { count: 0 };
    }
    await db.deleteFrom("events").where("seq", "<=", last.seq).execute();
    const { goneAtMs = 0 } = await readFacts(context);
    await writeFact(context, "events_gone_seq", last.seq);
    const times = expired.map(({ at }) => at).filter((at) => at <= nowMs);
    await writeFact(context, "events_gone_at", Math.max(goneAtMs, ...times));
    return { count: expired.length };
  },
};

async function readFacts({ db }: TransactionContext) {
  const rows = await db
    .selectFrom("meta")
    .selectAll()
    .where("name", "in", ["event_epoch", "events_gone_seq", "events_gone_at"])
    .execute();
  const values = new Map(rows.map(({ name, value }) => [name, value]));
  const goneAt = values.get("events_gone_at");
  return {
    epoch: values.get("event_epoch") ?? "",
    goneSeq: Number(values.get("events_gone_seq") ?? 0),
    goneAtMs: goneAt === undefined ? undefined : Number(goneAt),
  };
}

async function writeFact({ db }: TransactionContext, name: string, number: number): Promise<void> {
  const value = String(number);
  await db
    .insertInto("meta")
    .values({ name, value })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ value }))
    .execute();
}

async function readHeadSeq({ db }: TransactionContext, goneSeq: number): Promise<number> {
  const { newest } = await db
    .selectFrom("events")
    .select(({ fn }) => fn.max("seq").as("newest"))
    .executeTakeFirstOrThrow();
  return Number(newest ?? goneSeq);
}
