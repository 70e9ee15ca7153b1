import fc from "fast-check";
import { test } from "tap";
import {
  ageText,
  figuresAt,
  type Moment,
  pointsOf,
  tableMoments,
  withMoment,
} from "../../../dashboard/charts/time-series.ts";

const spanMs = 60_000;

function momentsOf(atMs: readonly number[]): readonly Moment[] {
  return atMs.reduce<readonly Moment[]>(
    (moments, at) => withMoment(moments, { atMs: at, figures: [at] }, spanMs),
    [],
  );
}

test("moments of the span are kept, and the one that applied at its start", async (t) => {
  const kept = momentsOf([0, 10_000, 20_000, 75_000, 79_000]).map(({ atMs }) => atMs);
  t.same(kept, [10_000, 20_000, 75_000, 79_000]);
  t.same(
    momentsOf([0, 500_000]).map(({ atMs }) => atMs),
    [0, 500_000],
  );
});

test("the newest moment is always kept, and the others are reduced to about one a second", async () => {
  const steps = fc.array(fc.integer({ min: 1, max: 3_000 }), { minLength: 1, maxLength: 500 });
  fc.assert(
    fc.property(steps, (each) => {
      let atMs = 0;
      const all = each.map((step) => {
        atMs += step;
        return atMs;
      });
      const kept = momentsOf(all);
      const sorted = kept.every((one, index) => index === 0 || one.atMs > (kept[index - 1]?.atMs ?? 0));
      return kept.at(-1)?.atMs === atMs && sorted && kept.length <= 2 * (spanMs / 1000) + 3;
    }),
  );
});

test("a line starts in the span, has a gap for an unknown figure, and continues until now", async (t) => {
  const moments = [
    { atMs: 0, figures: [1] },
    { atMs: 50_000, figures: [undefined] },
    { atMs: 80_000, figures: [3] },
  ];
  t.same(pointsOf(moments, 0, 100_000, spanMs), [
    { x: -60, y: 1 },
    { x: -50, y: null },
    { x: -20, y: 3 },
    { x: 0, y: 3 },
  ]);
  t.same(pointsOf([], 0, 100_000, spanMs), []);
});

test("a table shows only changes, newest first", async (t) => {
  const moments = [1, 1, 2, 2, 1].map((figure, index) => ({ atMs: index, figures: [figure] }));
  t.same(
    tableMoments(moments).map(({ atMs }) => atMs),
    [4, 2, 0],
  );
});

test("ages are formatted in everyday units", async (t) => {
  t.same([0, -30, -60, -300].map(ageText), ["now", "-30 s", "-1 min", "-5 min"]);
});

test("figures apply until the next moment", async (t) => {
  const moments = [
    { atMs: 10, figures: [1] },
    { atMs: 20, figures: [undefined] },
  ];
  t.equal(figuresAt(moments, 9), undefined);
  t.same(figuresAt(moments, 19), [1]);
  t.same(figuresAt(moments, 500), [undefined]);
});
