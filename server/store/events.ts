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
