import fc from "fast-check";
import { test } from "tap";
import { gridOf, resample } from "../../../server/history/resample.ts";
import { intersect } from "../../../server/history/span.ts";

test("a grid covers the range with at most the requested number of intervals", async (t) => {
  fc.assert(
    fc.property(
      fc.nat(2 ** 31),
      fc.integer({ min: 1, max: 100_000 }),
      fc.integer({ min: 1, max: 1440 }),
      (from, length, points) => {
        const { fromTick, ticks, count } = gridOf(from, from + length, points);
        t.ok(count >= 1 && count <= points);
        t.ok(fromTick <= from && from - fromTick < ticks);
        t.ok(fromTick + count * ticks >= from + length);
      },
    ),
  );
  const now = gridOf(1_000_000, 1_001_440, 60);
  const later = gridOf(1_000_001, 1_001_441, 60);
  t.equal(later.ticks, now.ticks);
  t.equal(now.fromTick % now.ticks, 0);
  t.equal(later.fromTick % later.ticks, 0, "the intervals stay the same while time goes on");
});

/** Values of ticks 0, 1, ...; NaN is unknown. */
const series = fc.array(fc.oneof(fc.constant(Number.NaN), fc.integer({ min: 0, max: 9 })), {
  minLength: 1,
  maxLength: 80,
});

function spansOf(values: readonly number[]) {
  return values.flatMap((value, from) => (Number.isNaN(value) ? [] : [{ from, to: from + 1, value }]));
}

test("an interval has its last known value, or the mean of its known values", async (t) => {
  fc.assert(
    fc.property(
      series,
      fc.integer({ min: 1, max: 20 }),
      fc.nat(10),
      fc.boolean(),
      (values, points, from, isMean) => {
        const grid = gridOf(from, from + values.length, points);
        const { starts, lengths, values: results } = resample(spansOf(values), grid, isMean);
        const found = new Map(
          results.flatMap((value, run) =>
            Array.from({ length: lengths[run] ?? 0 }, (_, index) => [(starts[run] ?? 0) + index, value]),
          ),
        );
        for (let index = 0; index < grid.count; index++) {
          const start = grid.fromTick + index * grid.ticks;
          const known = values.slice(start, start + grid.ticks).filter((value) => !Number.isNaN(value));
          const expected = isMean
            ? known.reduce((sum, value) => sum + value, 0) / known.length
            : known.at(-1);
          const value = found.get(index);
          if (known.length === 0) {
            t.equal(value, undefined, "unknown is not 0");
          } else {
            t.ok(Math.abs((value ?? Number.NaN) - (expected ?? 0)) < 1e-9);
          }
        }
      },
    ),
  );
});

test("equal intervals are one run, and unknown ones are in none", async (t) => {
  const spans = [
    { from: 0, to: 4, value: 5 },
    { from: 6, to: 7, value: 1 },
  ];
  t.same(resample(spans, { fromTick: 0, ticks: 1, count: 8 }, false), {
    starts: [0, 6],
    lengths: [4, 1],
    values: [5, 1],
  });
});

test("spans are cut to the times at which their source was read", async (t) => {
  fc.assert(
    fc.property(series, series, (values, readings) => {
      const others = readings.flatMap((value, from) => (value > 4 ? [{ from, to: from + 1 }] : []));
      const whole = [{ from: 0, to: values.length, value: 3 }];
      t.same(
        [...intersect(spansOf(values), others)],
        spansOf(values).filter(({ from }) => others.some((other) => other.from === from)),
      );
      t.same(
        [...intersect(whole, others)].map(({ from }) => from),
        others.filter(({ from }) => from < values.length).map(({ from }) => from),
      );
    }),
  );
});
