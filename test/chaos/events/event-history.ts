/** An event in the store, in the store's order. */
export interface AppendedEvent {
  readonly seq: number;
  /** Unique id. */
  readonly id: string;
}

/** A message that a subscriber received. */
export type HistoryMessage =
  | { readonly kind: "snapshot" | "heartbeat"; readonly cursor: string }
  | { readonly kind: "event"; readonly cursor: string; readonly id: string };

/** The messages of one connection, however it ended. */
export interface ConnectionHistory {
  /** The cursor that it continued from; undefined if it started from now or a time. */
  readonly from: string | undefined;
  readonly messages: readonly HistoryMessage[];
}

/** Everything that one subscriber received. */
export interface SubscriberHistory {
  /** Name for failure messages. */
  readonly name: string;
  /** Reports whether the subscriber asked for an event. */
  readonly matches: (event: AppendedEvent) => boolean;
  /** In order of time. */
  readonly connections: readonly ConnectionHistory[];
}

/** More failures of one subscriber add no information. */
const failuresMax = 5;

/**
 * Compares what a subscriber received with what was appended. From the start of its first connection, every event that it asked
 * for must have arrived exactly once, in the store's order, up to the end, over any of the connections. Each cursor must be
 * correct (every requested event up to it has arrived), and each connection must start with one snapshot at its cursor.
 * @param appended all events, in the store's order
 * @param placeOf returns the sequence number of a cursor
 * @returns a sentence for each failure; none if everything is correct
 */
export function historyFailures(
  { name, matches, connections }: SubscriberHistory,
  appended: readonly AppendedEvent[],
  placeOf: (cursor: string) => number,
): string[] {
  const failures: string[] = [];
  const byId = new Map(appended.map((event) => [event.id, event]));
  const expected = appended.filter(matches);
  /** Sequence number up to which every requested event has arrived. */
  let place: number | undefined;
  /** Index of the first requested event after the place. */
  let next = 0;
  let where = "";

  const fail = (what: string) => failures.push(`${name}, ${where}: ${what}`);

  function moveTo(seq: number): void {
    place = seq;
    while ((expected[next]?.seq ?? Number.POSITIVE_INFINITY) <= seq) {
      next += 1;
    }
  }

  /** Reports requested events missing between the place and `beforeSeq`, exclusive. */
  function assertNoneMissing(beforeSeq: number, found: string): void {
    const missing = expected.slice(next).filter(({ seq }) => seq < beforeSeq);
    const [first] = missing;
    if (first !== undefined) {
      fail(`gap: ${shown(first)} has not arrived, and ${missing.length - 1} more after it, before ${found}`);
    }
  }

  function checkSnapshot(cursor: string, from: string | undefined, index: number): void {
    const seq = placeOf(cursor);
    if (index > 0) {
      fail(`a snapshot in the middle, at ${seq}`);
    } else if (from === undefined && place === undefined) {
      moveTo(seq);
    } else if (from !== undefined && placeOf(from) !== seq) {
      fail(`expected a snapshot at ${placeOf(from)}, got ${seq}`);
    }
  }

  function checkEvent(cursor: string, id: string): void {
    const event = byId.get(id);
    if (event === undefined) {
      fail(`the event ${id} was never appended`);
      return;
    }
    if (placeOf(cursor) !== event.seq) {
      fail(`${shown(event)} has the cursor of ${placeOf(cursor)}`);
    }
    if (!matches(event)) {
      fail(`${shown(event)} was not requested`);
    } else if (event.seq <= (place ?? 0)) {
      fail(`repeat or disorder: ${shown(event)} arrived after position ${place}`);
    } else {
      assertNoneMissing(event.seq, shown(event));
      moveTo(event.seq);
    }
  }

  function checkHeartbeat(cursor: string): void {
    const seq = placeOf(cursor);
    if (seq < (place ?? 0)) {
      fail(`a heartbeat goes back from ${place} to ${seq}`);
    } else {
      assertNoneMissing(seq + 1, `a heartbeat at ${seq}`);
      moveTo(seq);
    }
  }

  for (const [connection, { from, messages }] of connections.entries()) {
    where = `connection ${connection + 1}`;
    if (from === undefined ? place !== undefined : placeOf(from) !== (place ?? placeOf(from))) {
      fail(`the request continues from ${from === undefined ? "now" : placeOf(from)}, expected ${place}`);
    }
    if (place === undefined && from !== undefined) {
      moveTo(placeOf(from));
    }
    for (const [index, message] of messages.entries()) {
      where = `connection ${connection + 1}, message ${index + 1}`;
      if (index === 0 && message.kind !== "snapshot") {
        fail(`the first message is not a snapshot but of kind ${message.kind}`);
      }
      if (message.kind === "event") {
        checkEvent(message.cursor, message.id);
      } else if (message.kind === "snapshot") {
        checkSnapshot(message.cursor, from, index);
      } else {
        checkHeartbeat(message.cursor);
      }
      if (failures.length >= failuresMax) {
        return failures;
      }
    }
  }
  where = `after ${connections.length} connections`;
  if (place === undefined) {
    fail("received nothing");
  } else {
    assertNoneMissing(Number.POSITIVE_INFINITY, "the end");
  }
  return failures;
}

function shown({ seq, id }: AppendedEvent): string {
  return `event ${seq} (${id})`;
}
