import { test } from "tap";
import { createEventMessages } from "../../../../server/domains/events/event-messages.ts";
import { subscription } from "../../../../server/domains/events/subscription.ts";
import type { EventRecord } from "../../../../server/events/event-record.ts";
import type { SharedMessage } from "../../../../server/rpc/streams/shared-message.ts";

const cursorOf = (seq: number) => `c${seq}`;
const messages = createEventMessages({ cursorOf, details: {}, isSandbox: false, maxMessageBytes: 1024 });
const recordOf = (seq: number): EventRecord => ({
  seq,
  atMs: 0,
  topic: "test",
  type: "test.happened",
  resource: "tests/a",
  host: "",
  operationId: undefined,
  services: [],
  payload: null,
});

test("a subscriber that misses events while it joins reads them first, and then joins after them", async (t) => {
  const batches = [[2, 3], [], [4], []].map((seqs) => seqs.map(recordOf));
  const reported: string[] = [];
  const requests: number[] = [];
  const joins: number[] = [];
  const sink = { write: () => true, unsentBytes: 0 };
  const options = {
    events: {
      cursorOf,
      async after(seq: number) {
        requests.push(seq);
        return batches.shift() ?? [];
      },
    },
    broadcast: {
      join(afterSeq: number, subscriber: { readonly sink: { write(message: SharedMessage): boolean } }) {
        joins.push(afterSeq);
        t.equal(subscriber.sink, sink);
        return joins.length === 1 ? undefined : Promise.resolve();
      },
    },
    messages,
    onSubscriber(topics: readonly string[]) {
      reported.push(`came for ${topics}`);
      return () => reported.push("left");
    },
  };
  const filter = { topics: ["test"], resources: [], services: undefined };
  const call = { signal: new AbortController().signal, openSink: () => sink };
  const cursors: unknown[] = [];
  for await (const { message } of subscription(options, 1, filter, 60_000, call)) {
    cursors.push(message?.value);
  }
  t.match(
    cursors,
    ["c1", "c2", "c3", "c4"].map((cursor) => ({ cursor })),
  );
  t.same(requests, [1, 3, 3, 4]);
  t.same(joins, [3, 4]);
  t.same(reported, ["came for test", "left"]);
});
