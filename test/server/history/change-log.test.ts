import fc from "fast-check";
import { test } from "tap";
import { createChangeLog } from "../../../server/history/change-log.ts";

const values = fc.oneof(fc.constant(Number.NaN), fc.integer({ min: 0, max: 3 }));

/** A change of one of four series, and how many ticks later it is. */
const changes = fc.array(fc.tuple(fc.nat(3), fc.nat(2), values), { maxLength: 200 });

/** Returns the known value at each tick. */
function valuesOf(spans: Iterable<{ from: number; to: number; value: number }>): Map<number, number> {
  return new Map(
    [...spans].flatMap(({ from, to, value }) =>
      Array.from({ length: to - from }, (_, index) => [from + index, value] as const),
    ),
  );
}

/** A value at each tick: that of the last change before or at it. */
function modelOf(all: readonly (readonly [tick: number, value: number])[], from: number, to: number) {
  const known = new Map<number, number>();
  for (let tick = from; tick < to; tick++) {
    const value = all.findLast(([at]) => at <= tick)?.[1] ?? Number.NaN;
    if (!Number.isNaN(value)) {
      known.set(tick, value);
    }
  }
  return known;
}

test("a series has the value of its last change at each tick", async (t) => {
  fc.assert(
    fc.property(changes, fc.nat(50), fc.nat(300), (all, from, length) => {
      const log = createChangeLog(() => true);
      const series = [0, 1, 2, 3].map(() => log.addSeries());
      const model = series.map((): [number, number][] => []);
      let tick = 10;
      for (const [index, later, value] of all) {
        tick += later;
        log.set(series[index] as number, tick, value);
        model[index]?.push([tick, value]);
      }
      series.forEach((each, index) => {
        const expected = modelOf(model[index] ?? [], from, from + length);
        t.strictSame(valuesOf(log.spans(each, from, from + length)), expected);
      });
    }),
  );
});

test("after the oldest changes are dropped, the rest has the same values", async (t) => {
  let random = 1;
  const next = (below: number) => {
    random = (random * 48_271) % 2_147_483_647;
    return random % below;
  };
  const log = createChangeLog(() => true);
  const series = Array.from({ length: 50 }, () => log.addSeries());
  const model = series.map((): [number, number][] => []);
  let tick = 0;
  for (let count = 0; count < 20_000; count++) {
    tick += next(3) === 0 ? 1 : 0;
    const index = next(50);
    const value = next(8) === 0 ? Number.NaN : next(1_000);
    log.set(series[index] as number, tick, value);
    model[index]?.push([tick, value]);
  }
  const quiet = log.addSeries();
  log.set(quiet, tick, 7);
  const before = log.bytes();
  t.ok(log.dropOldest());
  t.ok(log.dropBefore(Math.floor(tick / 2)), "also by their time");
  t.ok(log.bytes() < before);
  const horizon = log.horizonTick();
  t.ok(horizon > 0 && horizon <= tick / 2);
  series.forEach((each, index) => {
    const known = valuesOf(log.spans(each, 0, tick + 1));
    t.strictSame(known, modelOf(model[index] ?? [], horizon, tick + 1), `series ${index}`);
  });
  while (log.dropOldest()) {
    // Down to the block that is being written.
  }
  t.strictSame(
    series.map(log.lastValue),
    model.map((all) => all.at(-1)?.[1]),
  );
  t.strictSame(
    valuesOf(log.spans(quiet, tick, tick + 3)),
    new Map([
      [tick, 7],
      [tick + 1, 7],
      [tick + 2, 7],
    ]),
  );
});

test("without room, the oldest block is used again", async (t) => {
  let blocks = 0;
  const log = createChangeLog(() => {
    blocks += 1;
    return blocks <= 2;
  });
  const [busy, quiet] = [log.addSeries(), log.addSeries()];
  log.set(quiet, 1, 42);
  const bytes = () => log.bytes();
  for (let tick = 1; tick < 100_000; tick++) {
    log.set(busy, tick, tick);
  }
  t.ok(bytes() < 300_000, `${bytes()} bytes`);
  t.equal(log.lastValue(quiet), 42, "a series that does not change keeps its value");
  const [span] = log.spans(quiet, 0, 100_000);
  t.equal(span?.from, log.horizonTick());
  t.equal([...log.spans(busy, 99_990, 100_000)].length, 10);
});

test("the number of a removed series is used again without its changes", async (t) => {
  const log = createChangeLog(() => true);
  const [first, other] = [log.addSeries(), log.addSeries()];
  for (let tick = 0; tick < 5_000; tick++) {
    log.set(first, tick, tick);
    log.set(other, tick, tick);
  }
  log.removeSeries(first);
  const second = log.addSeries();
  t.equal(second, first);
  t.ok(log.isForgotten(second));
  log.set(second, 5_000, 1);
  while (log.dropOldest()) {
    // The dropped changes of the removed series must not become values of the new one.
  }
  t.strictSame([...log.spans(second, 0, 5_001)], [{ from: 5_000, to: 5_001, value: 1 }]);
  t.equal(log.lastValue(other), 4_999);
});
