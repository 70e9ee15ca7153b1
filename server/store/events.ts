import type { Selectable } from "kysely";
import type { EventsTable } from "./schema.ts";
import type { TransactionContext } from "./transaction.ts";

/** Something that happened, as it is written down. */
export interface NewEvent {
  readonly topic: string;
  readonly type: string;
  readonly resource: string;
  /** Empty: it happened on none. */
  readonly host: string;
  readonly operationId?: string;
  /** Full names of the services by which a caller may see it. */
  readonly services: readonly string[];
  /** Plain data; what it holds, the topic says. */
  readonly payload: unknown;
}

/** Writes events within a transaction, with what they tell. */
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

/** An event as its table has it. */
export type EventRow = Selectable<EventsTable>;

/** Events are written by several gateways, whose transactions may wait for each other for so long. */
const disorderMs = 60_000;

/** What happened, in order. */
export const eventTransactions = {
  /** Writes events that no other transaction tells. */
  async "events.append"(context: TransactionContext, { events }: { events: readonly NewEvent[] }) {
    await appendEvents(context, events);
  },

  /** Where the events stand: their epoch, the newest number, and the highest one that is no longer kept. */
  async "events.head"(context: TransactionContext) {
    const { epoch, goneSeq } = await readFacts(context);
    return { epoch, goneSeq, headSeq: await readHeadSeq(context, goneSeq) };
  },

  /**
   * The next events after a number, in order; with an operation those that are about it. When the number is below `goneSeq`,
   * others were before them.
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

  /** The place before the first event that is not before a time; not known when such events are no longer kept. */
  async "events.atTime"(context: TransactionContext, { atMs }: { atMs: number }) {
    const { goneSeq, goneAtMs } = await readFacts(context);
    if (goneAtMs !== undefined && atMs <= goneAtMs) {
      return { isKept: false as const, goneSeq };
    }
    // Times are those at which transactions began, so an event may be before another of a smaller time.
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
   * Removes the oldest events as far as they are older than `keepMs`, `limit` at most; returns how many. What lies further
   * ahead than that was written while the clock was wrong, and would keep all behind it until then.
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
