import fc from "fast-check";
import { test } from "tap";
import {
  type Candidate,
  chooseGrowth,
  chooseShrinkage,
  maxComparedDevices,
} from "../../../../../server/domains/hypervisors/pool/choose-devices.ts";

const spares = (...extents: number[]): Candidate[] =>
  extents.map((size) => ({ extents: size, usedExtents: 0 }));
const device = (extents: number, usedExtents: number): Candidate => ({ extents, usedExtents });
const free = { roomExtents: 0, canMove: true, mustKeepOne: false };

/** Enumerates all subsets of `count` candidates by brute force; for at most ten candidates. */
function subsets(count: number): number[][] {
  return Array.from({ length: 2 ** count }, (_, bits) =>
    Array.from({ length: count }, (_, index) => index).filter((index) => ((bits >> index) & 1) === 1),
  );
}
const total = (candidates: readonly Candidate[], indexes: readonly number[], of: keyof Candidate) =>
  indexes.reduce((sum, index) => sum + (candidates[index]?.[of] ?? 0), 0);

const candidate = fc
  .record({ extents: fc.integer({ min: 0, max: 40 }), share: fc.double({ min: 0, max: 1, noNaN: true }) })
  .map(({ extents, share }) => device(extents, Math.floor(extents * share)));
const few = fc.array(candidate, { maxLength: 9 });
const many = fc.array(candidate, { minLength: maxComparedDevices + 1, maxLength: 60 });

test("the smallest sufficient set of spares is chosen", async (t) => {
  t.strictSame(chooseGrowth(spares(10, 20, 30), 1), [0]);
  t.strictSame(chooseGrowth(spares(30, 20, 10), 11), [1]);
  t.strictSame(chooseGrowth(spares(30, 20, 15), 31), [1, 2]);
  t.strictSame(chooseGrowth(spares(10, 10, 20), 20), [2], "one device is better than two");
  t.strictSame(chooseGrowth(spares(10, 10, 10), 15), [0, 1], "the first in order");
  t.strictSame(chooseGrowth(spares(10, 10), 20), [0, 1]);
  t.equal(chooseGrowth(spares(10, 10), 21), undefined);
  t.equal(chooseGrowth([], 1), undefined);
});

test("no smaller set of spares is sufficient", async () => {
  fc.assert(
    fc.property(few, fc.integer({ min: 1, max: 200 }), (candidates, min) => {
      const sizes = subsets(candidates.length)
        .map((indexes) => total(candidates, indexes, "extents"))
        .filter((extents) => extents >= min);
      const chosen = chooseGrowth(candidates, min);
      return chosen === undefined
        ? sizes.length === 0
        : total(candidates, chosen, "extents") === Math.min(...sizes);
    }),
  );
  fc.assert(
    fc.property(many, fc.integer({ min: 1, max: 2000 }), (candidates, min) => {
      const chosen = chooseGrowth(candidates, min);
      const all = candidates.reduce((sum, { extents }) => sum + extents, 0);
      if (chosen === undefined) {
        return all < min;
      }
      const sum = total(candidates, chosen, "extents");
      // No device can be left out.
      return sum >= min && chosen.every((index) => sum - (candidates[index]?.extents ?? 0) < min);
    }),
  );
});

test("the largest set of removable devices is chosen", async (t) => {
  const candidates = [device(10, 2), device(20, 0), device(30, 30)];
  t.strictSame(chooseShrinkage(candidates, 9, free), []);
  t.strictSame(chooseShrinkage(candidates, 10, free), [0]);
  t.strictSame(chooseShrinkage(candidates, 29, free), [1]);
  t.strictSame(chooseShrinkage(candidates, 100, free), [1], "the other devices have no space for its data");
  t.strictSame(chooseShrinkage(candidates, 100, { ...free, roomExtents: 40 }), [0, 1, 2]);
  t.strictSame(chooseShrinkage(candidates, 30, { ...free, roomExtents: 40 }), [0, 1], "less data to move");
  t.strictSame(chooseShrinkage(candidates, 100, { ...free, roomExtents: 40, canMove: false }), [1]);
  t.strictSame(chooseShrinkage(spares(5, 5), 100, { ...free, mustKeepOne: true }), [0]);
  t.strictSame(chooseShrinkage(spares(5), 100, { ...free, mustKeepOne: true }), [], "the last one stays");
});

test("a shrinkage never exceeds the request, and the data fits on the other devices", async () => {
  const limits = fc.record({
    roomExtents: fc.integer({ min: 0, max: 60 }),
    canMove: fc.boolean(),
    mustKeepOne: fc.boolean(),
  });
  const isAllowed = (
    candidates: readonly Candidate[],
    chosen: readonly number[],
    max: number,
    { roomExtents, canMove, mustKeepOne }: { roomExtents: number; canMove: boolean; mustKeepOne: boolean },
  ) => {
    const stays = candidates.map((_, index) => index).filter((index) => !chosen.includes(index));
    const room = roomExtents + total(candidates, stays, "extents") - total(candidates, stays, "usedExtents");
    const moved = total(candidates, chosen, "usedExtents");
    return (
      total(candidates, chosen, "extents") <= max &&
      moved <= room &&
      (canMove || moved === 0) &&
      !(mustKeepOne && stays.length === 0 && chosen.length > 0)
    );
  };
  fc.assert(
    fc.property(few, fc.integer({ min: 1, max: 200 }), limits, (candidates, max, reported) => {
      const chosen = chooseShrinkage(candidates, max, reported);
      const best = subsets(candidates.length)
        .filter((indexes) => isAllowed(candidates, indexes, max, reported))
        .map((indexes) => total(candidates, indexes, "extents"));
      return (
        isAllowed(candidates, chosen, max, reported) &&
        total(candidates, chosen, "extents") === Math.max(0, ...best)
      );
    }),
  );
  fc.assert(
    fc.property(many, fc.integer({ min: 1, max: 2000 }), limits, (candidates, max, reported) =>
      isAllowed(candidates, chooseShrinkage(candidates, max, reported), max, reported),
    ),
  );
});

test("twenty devices are compared quickly", async (t) => {
  const candidates = Array.from({ length: maxComparedDevices }, (_, index) => device(1000 + index, 10));
  const beganMs = performance.now();
  chooseGrowth(candidates, 19_000);
  chooseShrinkage(candidates, 19_000, { ...free, roomExtents: 100_000 });
  t.ok(performance.now() - beganMs < 5_000, "even on a busy machine");
});
