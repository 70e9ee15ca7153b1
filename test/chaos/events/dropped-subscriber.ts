import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@connectrpc/connect";
import type {
  EventService,
  SubscribeRequest,
  SubscribeResponse,
} from "../../../gen/hostplane/v1/event_pb.ts";
import { rpcErrorFrom } from "../../server/harness/rpc-error.ts";
import type { ConnectionHistory, HistoryMessage } from "./event-history.ts";

/** Options of `subscribeThroughDrops`. */
export interface DroppedSubscriberOptions {
  readonly name: string;
  /** Returns the client of each connection, which may use another gateway each time. */
  readonly clientOf: (connection: number) => Client<typeof EventService>;
  readonly filter: Partial<Pick<SubscribeRequest, "topics" | "resources">>;
  /** Cursor of the first connection; default: now. */
  readonly firstCursor?: string;
  readonly drops: number;
  /** Cuts the connection. Cuts alternate with cancelling the call. */
  readonly cut: () => void;
  /** Returns how long a connection lives before it is dropped. */
  readonly lifeMs: () => number;
  /** Reports whether everything has been received up to the cursor, once no more connections are dropped. */
  readonly isComplete: (cursor: string) => boolean;
  /** Returns the id of an event in the history. */
  readonly idOf: (event: SubscribeResponse["message"]) => string;
}

/** Reasons after which a subscriber continues from its cursor, as the documentation says. */
const passing: ReadonlySet<string | undefined> = new Set([
  "SUBSCRIBER_TOO_SLOW",
  "SHUTTING_DOWN",
  "STORE_UNAVAILABLE",
]);

/** Codes of clients when no gateway responded. */
const unreached: ReadonlySet<string> = new Set(["UNAVAILABLE", "ABORTED", "CANCELLED"]);

/**
 * Subscribes, is dropped repeatedly, and continues from the last received cursor. Resolves with the whole history when it is
 * complete.
 * @throws Error when a stream that was not dropped ends for a permanent reason
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

/** @returns whether `take` is complete */
async function readUntilDropped(
  { name, clientOf, filter, cut, lifeMs, drops, idOf }: DroppedSubscriberOptions,
  connection: number,
  cursor: string | undefined,
  take: (message: HistoryMessage) => boolean,
): Promise<boolean> {
  const leaving = new AbortController();
  let isDropped = false;
  let hasStarted = false;
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
      hasStarted = true;
      if (take(historyMessage(message, idOf))) {
        leaving.abort();
        return true;
      }
    }
  } catch (error) {
    const { reason, code, message } = rpcErrorFrom(error);
    // Over HTTP/2 a call may start on a cut connection, which shows only a moment later.
    const isUnreached = !hasStarted && reason === undefined && unreached.has(code);
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
    throw new Error("a message without a kind");
  }
  const { cursor } = message.value;
  return message.case === "event"
    ? { kind: "event", cursor, id: idOf(message) }
    : { kind: message.case, cursor };
}
