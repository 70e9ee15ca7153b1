import fc from "fast-check";
import { test } from "tap";
import { createRingSeries } from "../../../server/history/ring-series.ts";

const room = () => true;

/** Writes: how many ticks after the last one, and the value. */
const writes = fc.array(
  fc.tuple(
    fc.integer({ min: 1, max: 40 }),
    fc.oneof(fc.constant(Number.NaN), fc.integer({ min: 0, max: 3 })),
  ),
  { maxLength: 60 },
);

test("a ring keeps the values of the last ticks and nothing else", async (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 600 }), fc.nat(1_000), writes, (size, first, all) => {
      const ring = createRingSeries(size, room);
      const model = new Map<number, number>();
      let tick = first;
      for (const [after, value] of all) {
        tick += after;
        ring.write(tick, value);
        model.set(tick, value);
      }
      const last = all.length === 0 ? -1 : tick;
      for (let at = Math.max(0, last - size - 5); at < last + 5; at++) {
        const expected = at > last - size && at <= last ? (model.get(at) ?? Number.NaN) : Number.NaN;
        if (!Object.is(ring.at(at), expected)) {
          throw new Error(`tick ${at} is ${ring.at(at)}, expected ${expected}`);
        }
      }
      const known = [...ring.spans(0, last + 10)].flatMap(({ from, to, value }) =>
        Array.from({ length: to - from }, (_, index) => [from + index, value]),
      );
      const kept = [...model].filter(([at, value]) => at > last - size && !Number.isNaN(value));
      t.strictSame(known, kept);
    }),
  );
});

test("runs of equal values are one span, within the requested range", async (t) => {
  const ring = createRingSeries(100, room);
  for (const [tick, value] of [
    [10, 1],
    [11, 1],
    [12, 2],
    [14, 2],
  ] as const) {
    ring.write(tick, value);
  }
  t.same(
    [...ring.spans(11, 100)],
    [
      { from: 11, to: 12, value: 1 },
      { from: 12, to: 13, value: 2 },
      { from: 14, to: 15, value: 2 },
    ],
  );
});

test("memory is allocated when values are written, and no value is kept without it", async (t) => {
  const asked: number[] = [];
  let hasRoom = true;
  const ring = createRingSeries(1440, (bytes) => {
    asked.push(bytes);
    return hasRoom;
  });
  t.equal(ring.bytes(), 0);
  ring.write(5, Number.NaN);
  t.equal(ring.bytes(), 0, "an unknown value needs none");
  ring.write(6, 1);
  t.equal(ring.bytes(), 256 * 8);
  hasRoom = false;
  ring.write(300, 1);
  t.ok(Number.isNaN(ring.at(300)));
  t.equal(ring.at(6), 1);
  t.same(asked, [256 * 8, 256 * 8]);
});
