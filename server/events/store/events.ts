import type { Insertable, Selectable } from "kysely";
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
  /** Plain data; its shape depends on the topic. An event of a host of the fleet has the JSON of a hostplane.v1.Event. */
  readonly payload: unknown;
  /** The host of the fleet whose gateway has recorded it, and the time there; absent: this gateway. */
  readonly ofHost?: { readonly name: string; readonly atMs: number };
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
  for (let index = 0; index < events.length; index += rowsPerInsert) {
    // Both databases number the rows of an insert in their order.
    const rows = events.slice(index, index + rowsPerInsert).map((event) => rowFrom(event, nowMs));
    await db.insertInto("events").values(rows).execute();
  }
  notify("events");
}

/** Far below the number of parameters that a statement may have. */
const rowsPerInsert = 64;

function rowFrom(event: NewEvent, nowMs: number): Insertable<EventsTable> {
  const { topic, type, resource, host, operationId, services, payload, ofHost } = event;
  return {
    at: nowMs,
    topic,
    type,
    resource,
    host,
    operation_id: operationId ?? null,
    services: JSON.stringify(services),
    payload_json: JSON.stringify(payload),
    fleet_host: ofHost?.name ?? "",
    fleet_host_at: ofHost?.atMs ?? null,
  };
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
   * Reads the next events after a number, in order; with `operationId` only those about that operation of this gateway. If the number is below
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
      // A host could use the ID of an operation of this gateway.
      query = query.where("operation_id", "=", operationId).where("fleet_host", "=", "");
    }
    return { rows: await query.execute(), goneSeq };
  },

  /** Returns the host of the fleet that has sent the first event about an operation; undefined if none has. */
  async "events.hostOfOperation"(
    { db }: TransactionContext,
    { operationId }: { operationId: string },
  ): Promise<string | undefined> {
    const first = await db
      .selectFrom("events")
      .select("fleet_host")
      .where("operation_id", "=", operationId)
      .where("fleet_host", "!=", "")
      .orderBy("seq")
      .limit(1)
      .executeTakeFirst();
    return first?.fleet_host;
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
};

/** Reads the epoch, and what is known of purged events: the highest number, and the time of the newest. */
export async function readFacts({ db }: TransactionContext) {
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

async function readHeadSeq({ db }: TransactionContext, goneSeq: number): Promise<number> {
  const { newest } = await db
    .selectFrom("events")
    .select(({ fn }) => fn.max("seq").as("newest"))
    .executeTakeFirstOrThrow();
  return Number(newest ?? goneSeq);
}
