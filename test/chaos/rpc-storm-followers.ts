import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@connectrpc/connect";
import type { EventService } from "../../gen/hostplane/v1/event_pb.ts";
import { parseCursor } from "../../server/events/cursor.ts";
import type { ConnectionHistory, HistoryMessage } from "./event-history.ts";

/** What a subscriber got through all lives of the gateway. */
export interface FollowerHistory {
  /** Its protocol. */
  readonly name: string;
  readonly connections: readonly ConnectionHistory[];
}

/** One that goes on subscribing. */
export interface Follower extends FollowerHistory {
  readonly events: Client<typeof EventService>;
  readonly connections: ConnectionHistory[];
}

/**
 * Subscribes to the events of operations, again from its cursor whenever the gateway has died, until `isOver`.
 * @param untilUp resolves once a gateway serves
 */
export async function followEvents(
  { events, connections }: Follower,
  untilUp: () => Promise<void>,
  isOver: AbortSignal,
): Promise<void> {
  let cursor: string | undefined;
  while (!isOver.aborted) {
    await untilUp();
    const messages: HistoryMessage[] = [];
    const start = cursor === undefined ? {} : { start: { case: "cursor" as const, value: cursor } };
    connections.push({ from: cursor, messages });
    try {
      const stream = events.subscribe({ topics: ["operations"], ...start }, { signal: isOver });
      for await (const { message } of stream) {
        if (message.case !== undefined) {
          cursor = message.value.cursor;
          messages.push(
            message.case === "event" ? { kind: "event", cursor, id: cursor } : { kind: message.case, cursor },
          );
        }
      }
    } catch {
      // The gateway was killed, or is not there yet.
    }
    await delay(isOver.aborted ? 0 : 30);
  }
}

/** The place that a subscriber has reached. */
export function seqOf(connections: readonly ConnectionHistory[]): number {
  const cursor = connections.at(-1)?.messages.at(-1)?.cursor;
  return cursor === undefined ? -1 : parseCursor(cursor).seq;
}
