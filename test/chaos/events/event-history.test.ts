import { test } from "tap";
import { type ConnectionHistory, type HistoryMessage, historyFailures } from "./event-history.ts";

const appended = [2, 3, 5, 8, 9].map((seq) => ({ seq, id: `e${seq}` }));
const placeOf = Number;
const event = (seq: number, id = `e${seq}`): HistoryMessage => ({ kind: "event", cursor: String(seq), id });
const snapshot = (seq: number): HistoryMessage => ({ kind: "snapshot", cursor: String(seq) });
const heartbeat = (seq: number): HistoryMessage => ({ kind: "heartbeat", cursor: String(seq) });

function connection(from: number | undefined, ...messages: HistoryMessage[]): ConnectionHistory {
  return { from: from === undefined ? undefined : String(from), messages };
}

function failuresOf(connections: readonly ConnectionHistory[], matches = (_event: { seq: number }) => true) {
  return historyFailures({ name: "s", matches, connections }, appended, placeOf);
}

test("a correct history passes, over one connection or many", async (t) => {
  t.same(failuresOf([connection(undefined, snapshot(0), ...[2, 3, 5, 8, 9].map((seq) => event(seq)))]), []);
  const many = [
    connection(undefined),
    connection(undefined, snapshot(3), event(5)),
    connection(5, snapshot(5), heartbeat(6)),
    connection(6),
    connection(6, snapshot(6), event(8), heartbeat(8), event(9), heartbeat(12)),
  ];
  t.same(failuresOf(many), []);
  t.same(failuresOf([connection(3, snapshot(3), event(5), event(8), event(9))]), []);
  const some = [
    connection(undefined, snapshot(0), event(3), heartbeat(4)),
    connection(4, snapshot(4), event(8)),
  ];
  t.same(
    failuresOf(some, ({ seq }) => seq === 3 || seq === 8),
    [],
  );
});

test("every fault is found and described", async (t) => {
  const faults: readonly [string, ConnectionHistory[], RegExp][] = [
    [
      "a gap",
      [connection(3, snapshot(3), event(8), event(9))],
      /message 2: gap: event 5 \(e5\) has not arrived, and 0 more/,
    ],
    [
      "a longer gap",
      [connection(2, snapshot(2), event(9))],
      /event 3 \(e3\) has not arrived, and 2 more .* before event 9/,
    ],
    [
      "a repeat",
      [connection(5, snapshot(5), event(8), event(8), event(9))],
      /message 3: repeat or disorder: event 8/,
    ],
    [
      "disorder",
      [connection(3, snapshot(3), event(8), event(5), event(9))],
      /gap: event 5.*|repeat or disorder: event 5/,
    ],
    [
      "a gap between connections",
      [connection(2, snapshot(2), event(3)), connection(3, snapshot(3), event(8), event(9))],
      /connection 2, message 2: gap: event 5/,
    ],
    [
      "a repeat after a drop",
      [
        connection(2, snapshot(2), event(3), event(5)),
        connection(5, snapshot(5), event(5), event(8), event(9)),
      ],
      /connection 2, message 2: repeat or disorder: event 5/,
    ],
    [
      "a missing end",
      [connection(3, snapshot(3), event(5))],
      /after 1 connections: gap: event 8 .* 1 more .* the end/,
    ],
    ["nothing", [connection(undefined)], /received nothing/],
    ["no snapshot", [connection(8, event(9))], /not a snapshot but of kind event/],
    ["two snapshots", [connection(8, snapshot(8), snapshot(8), event(9))], /a snapshot in the middle/],
    [
      "a snapshot at another place",
      [connection(8, snapshot(9), event(9))],
      /expected a snapshot at 8, got 9/,
    ],
    [
      "another cursor",
      [connection(8, snapshot(8), { ...event(9), cursor: "10" })],
      /event 9 \(e9\) has the cursor of 10/,
    ],
    [
      "an unknown event",
      [connection(8, snapshot(8), event(9, "x"), event(9))],
      /the event x was never appended/,
    ],
    [
      "a heartbeat ahead",
      [connection(5, snapshot(5), heartbeat(8))],
      /gap: event 8 .* before a heartbeat at 8/,
    ],
    [
      "a heartbeat behind",
      [connection(5, snapshot(5), event(8), heartbeat(7), event(9))],
      /goes back from 8 to 7/,
    ],
    [
      "a place that was dropped",
      [connection(5, snapshot(5), event(8)), connection(undefined, snapshot(9))],
      /connection 2: the request continues from now, expected 8/,
    ],
  ];
  for (const [what, connections, words] of faults) {
    t.match(failuresOf(connections).join("\n"), words, what);
  }
  const unmatched = failuresOf([connection(8, snapshot(8), event(9))], ({ seq }) => seq < 9);
  t.match(unmatched, [/event 9 \(e9\) was not requested/]);
});
