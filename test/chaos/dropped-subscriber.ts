import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@connectrpc/connect";
import type { EventService, SubscribeRequest, SubscribeResponse } from "../../gen/hostplane/v1/event_pb.ts";
import { rpcErrorFrom } from "../server/rpc-error.ts";
import type { ConnectionHistory, HistoryMessage } from "./event-history.ts";

/** What `subscribeThroughDrops` needs. */
export interface DroppedSubscriberOptions {
  readonly name: string;
  /** One for each connection: it may be to another gateway each time. */
  readonly clientOf: (connection: number) => Client<typeof EventService>;
  readonly filter: Partial<Pick<SubscribeRequest, "topics" | "resources">>;
  /** Where the first connection begins; from now if absent. */
  readonly firstCursor?: string;
  readonly drops: number;
  /** Cuts the connection under the call; otherwise the call is cancelled. Both happen by turns. */
  readonly cut: () => void;
  /** How long a connection may live before it is dropped. */
  readonly lifeMs: () => number;
  /** Whether all that is to come has come, once no connection is dropped any more. */
  readonly isComplete: (cursor: string) => boolean;
  /** What an event is known by in the history. */
  readonly idOf: (event: SubscribeResponse["message"]) => string;
}

/** Reasons for which a subscriber goes on where it was, as its users are told to do. */
const passing: ReadonlySet<string | undefined> = new Set([
  "SUBSCRIBER_TOO_SLOW",
  "SHUTTING_DOWN",
  "STORE_UNAVAILABLE",
]);

/** What clients say when no gateway has answered. */
const unreached: ReadonlySet<string> = new Set(["UNAVAILABLE", "ABORTED", "CANCELLED"]);

/**
 * Subscribes, and is dropped again and again, and goes on by the last cursor that has come. Resolves with all that has come,
 * once everything has.
 * @throws Error when a stream ends without having been dropped, for a reason that does not pass
 */
export async function subscribeThroughDrops(options: DroppedSubscriberOptions): Promise<ConnectionHistory[]> {
  const connections: ConnectionHistory[] = [];
  let cursor = options.firstCursor;
  for (let drops = 0; ; drops += 1) {
    const history: { from: string | undefined; messages: HistoryMessage[] } = { from: cursor, messages: [] };
    connections.push(history);
    const isOver = await readUntilDropped(options, drops, cursor, (message) => {
      history.messages.push(message);
      cursor = message.cursor;
      return drops >= options.drops && options.isComplete(message.cursor);
    });
    if (isOver) {
      return connections;
    }
  }
}

/** @returns whether `take` has had enough */
async function readUntilDropped(
  { name, clientOf, filter, cut, lifeMs, drops, idOf }: DroppedSubscriberOptions,
  connection: number,
  cursor: string | undefined,
  take: (message: HistoryMessage) => boolean,
): Promise<boolean> {
  const leaving = new AbortController();
  let isDropped = false;
  let hasBegun = false;
  const drop = () => {
    isDropped = true;
    if (connection % 2 === 0) {
      cut();
    }
    leaving.abort();
  };
  const timer = connection < drops ? setTimeout(drop, lifeMs()) : undefined;
  const start = cursor === undefined ? {} : { start: { case: "cursor" as const, value: cursor } };
  try {
    const stream = clientOf(connection).subscribe({ ...filter, ...start }, { signal: leaving.signal });
    for await (const { message } of stream) {
      if (isDropped) {
        break;
      }
      hasBegun = true;
      if (take(historyMessage(message, idOf))) {
        leaving.abort();
        return true;
      }
    }
  } catch (error) {
    const { reason, code, message } = rpcErrorFrom(error);
    // Over HTTP/2 a call may be begun on a connection that was cut, which is known a moment later.
    const isUnreached = !hasBegun && reason === undefined && unreached.has(code);
    if (!isDropped && !passing.has(reason) && !isUnreached) {
      throw new Error(`${name}, connection ${connection + 1}: ended with ${reason ?? code}: ${message}`);
    }
    await delay(isDropped ? 0 : 50);
  } finally {
    clearTimeout(timer);
  }
  return false;
}

function historyMessage(
  message: SubscribeResponse["message"],
  idOf: DroppedSubscriberOptions["idOf"],
): HistoryMessage {
  if (message.case === undefined) {
    throw new Error("a message of no kind");
  }
  const { cursor } = message.value;
  return message.case === "event"
    ? { kind: "event", cursor, id: idOf(message) }
    : { kind: message.case, cursor };
}
