import fc from "fast-check";
import { test } from "tap";
import type { CephCrash } from "../../../../../adapters/ceph/adapter.ts";
import { stability } from "../../../../../server/domains/storage/radar/stability.ts";
import type { SeenHour } from "../../../../../server/domains/storage/radar/stability-history.ts";

const nowMs = Date.parse("2026-11-21T12:00:00Z");
const quiet: SeenHour = {
  sinceMs: nowMs - 3_600_000,
  flapCount: 0,
  slowOperationPeak: 0,
  recoveringSharePeak: 0,
};

function crashesAt(...minutesAgo: readonly number[]): readonly CephCrash[] {
  return minutesAgo.map((minutes, index) => ({
    id: String(index),
    entity: "osd.1",
    host: "ceph-1",
    atMs: nowMs - minutes * 60_000,
    what: "it crashed",
    version: "16.2.15",
    isArchived: index % 2 === 0,
  }));
}

const hours: fc.Arbitrary<SeenHour> = fc.record({
  sinceMs: fc.constant(quiet.sinceMs),
  flapCount: fc.nat({ max: 20 }),
  slowOperationPeak: fc.nat({ max: 100 }),
  recoveringSharePeak: fc.double({ min: 0, max: 1, noNaN: true }),
});
const crashCounts = fc.nat({ max: 6 });
const scoreOf = (hour: SeenHour, crashCount: number) =>
  stability(hour, crashesAt(...Array.from({ length: crashCount }, (_, index) => index)), nowMs).value;

test("a quiet hour has all points", async (t) => {
  t.same(stability(quiet, [], nowMs), { value: 100, because: ["seen since 2026-11-21T11:00:00.000Z"] });
});

test("each incident deducts points, up to a maximum per kind", async (t) => {
  t.match(stability({ ...quiet, flapCount: 2 }, [], nowMs), { value: 80, because: ["flaps=2 -20"] });
  t.equal(stability({ ...quiet, flapCount: 9 }, [], nowMs).value, 70);
  t.match(stability({ ...quiet, slowOperationPeak: 7 }, [], nowMs), {
    value: 93,
    because: ["slow_operations=7 -7"],
  });
  t.equal(stability({ ...quiet, slowOperationPeak: 700 }, [], nowMs).value, 80);
  t.match(stability({ ...quiet, recoveringSharePeak: 0.35 }, [], nowMs), {
    value: 93,
    because: ["recovering=35.0% -7"],
  });
  t.equal(stability(quiet, crashesAt(1), nowMs).value, 90);
  const all = { ...quiet, flapCount: 3, slowOperationPeak: 20, recoveringSharePeak: 1 };
  t.equal(stability(all, crashesAt(1, 2, 3), nowMs).value, 0);
});

test("crashes of the last hour count, archived or not, and older ones do not", async (t) => {
  t.match(stability(quiet, crashesAt(5, 59, 61, 600), nowMs), { value: 80, because: ["crashes=2 -20"] });
  t.equal(stability(quiet, crashesAt(-2), nowMs).value, 90, "the clock of a host is ahead");
  t.equal(stability(quiet, crashesAt(nowMs / 60_000), nowMs).value, 100, "a crash report without a time");
});

test("the score is bounded, and more incidents never raise it", async () => {
  fc.assert(
    fc.property(hours, hours, crashCounts, crashCounts, (a, b, fewer, more) => {
      const worse = {
        sinceMs: a.sinceMs,
        flapCount: Math.max(a.flapCount, b.flapCount),
        slowOperationPeak: Math.max(a.slowOperationPeak, b.slowOperationPeak),
        recoveringSharePeak: Math.max(a.recoveringSharePeak, b.recoveringSharePeak),
      };
      const [value, atWorse] = [scoreOf(a, fewer), scoreOf(worse, Math.max(fewer, more))];
      return value <= 100 && atWorse >= 0 && atWorse <= value;
    }),
  );
});

test("one more incident deducts at most 10 points", async () => {
  fc.assert(
    fc.property(hours, crashCounts, (hour, crashes) => {
      const value = scoreOf(hour, crashes);
      const next = [
        scoreOf({ ...hour, flapCount: hour.flapCount + 1 }, crashes),
        scoreOf({ ...hour, slowOperationPeak: hour.slowOperationPeak + 1 }, crashes),
        scoreOf(hour, crashes + 1),
      ];
      return next.every((each) => value - each <= 10 + 1e-9);
    }),
  );
});
