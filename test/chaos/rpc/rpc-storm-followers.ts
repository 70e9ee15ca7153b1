import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@connectrpc/connect";
import type { EventService } from "../../../gen/hostplane/v1/event_pb.ts";
import { parseCursor } from "../../../server/events/cursor.ts";
import type { ConnectionHistory, HistoryMessage } from "../events/event-history.ts";

/** What a subscriber received over all lives of the gateway. */
export interface FollowerHistory {
  /** Name of its protocol. */
  readonly name: string;
  readonly connections: readonly ConnectionHistory[];
}

/** A subscriber that is still running. */
export interface Follower extends FollowerHistory {
  readonly events: Client<typeof EventService>;
  readonly connections: ConnectionHistory[];
}

/**
 * Subscribes to the events of operations, and again from its cursor whenever the gateway was killed, until `isOver`.
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
      // The gateway was killed, or has not started yet.
    }
    await delay(isOver.aborted ? 0 : 30);
  }
}

/** Returns the sequence number that a subscriber has reached. */
export function seqOf(connections: readonly ConnectionHistory[]): number {
  const cursor = connections.at(-1)?.messages.at(-1)?.cursor;
  return cursor === undefined ? -1 : parseCursor(cursor).seq;
}
