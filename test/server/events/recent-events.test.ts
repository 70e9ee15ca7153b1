import fc from "fast-check";
import { test } from "tap";
import type { EventRecord } from "../../../server/events/event-record.ts";
import { createRecentEvents } from "../../../server/events/recent-events.ts";

const recordOf = (seq: number) => ({ seq }) as EventRecord;

test("the events in memory have no gaps, and stay within the limits", async () => {
  const pushes = fc.array(fc.record({ step: fc.integer({ min: 1, max: 5 }), bytes: fc.nat(30) }), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(
      pushes,
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 0, max: 200 }),
      (steps, maxRecords, maxBytes) => {
        const recent = createRecentEvents(7, { maxRecords, maxBytes });
        const all: { readonly seq: number; readonly bytes: number }[] = [];
        let seq = 7;
        for (const { step, bytes } of steps) {
          seq += step;
          all.push({ seq, bytes });
          recent.push(recordOf(seq), bytes);
          // The largest number of newest events that fits.
          let room = maxBytes;
          let count = 0;
          for (const each of all.toReversed()) {
            room -= each.bytes;
            if (room < 0 || count === maxRecords) {
              break;
            }
            count += 1;
          }
          const floor = all.at(-count - 1)?.seq ?? 7;
          for (let after = 5; after <= seq + 1; after += 1) {
            const found = recent.after(after, 4)?.map((record) => record.seq);
            const expected = all.filter((each) => each.seq > after).map((each) => each.seq);
            const isRight =
              after < floor
                ? found === undefined
                : JSON.stringify(found) === JSON.stringify(expected.slice(0, 4));
            if (!isRight) {
              return false;
            }
          }
        }
        return true;
      },
    ),
    { numRuns: 300 },
  );
});

test("after a gap, earlier events are gone", async (t) => {
  const recent = createRecentEvents(0, { maxRecords: 10, maxBytes: 1000 });
  recent.push(recordOf(1), 10);
  recent.restartAfter(5);
  t.equal(recent.after(1, 10), undefined);
  t.same(recent.after(5, 10), []);
  recent.push(recordOf(6), 10);
  t.same(recent.after(5, 10), [recordOf(6)]);
});
