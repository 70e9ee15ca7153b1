import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { test } from "tap";
import { inSlices } from "../../../../server/rpc/call/in-slices.ts";

test("steps run to their end, and other work runs between them", async (t) => {
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  t.teardown(() => clearInterval(timer));
  const result = await inSlices(
    (function* () {
      for (let step = 0; step < 10; step++) {
        const untilMs = performance.now() + 10;
        while (performance.now() < untilMs) {
          // Work.
        }
        yield;
      }
      return "done";
    })(),
  );
  t.equal(result, "done");
  t.ok(turns >= 5, `${turns} turns`);
});

test("however long steps take, they run once, in order, and yield after 5 ms and no sooner", async (t) => {
  let nowMs = 0;
  t.intercept(performance, "now", { value: () => nowMs });
  let turn = 0;
  let pumping = setImmediate(function pump() {
    turn += 1;
    pumping = setImmediate(pump);
  });
  t.teardown(() => clearImmediate(pumping));
  const stepsMs = fc.array(fc.integer({ min: 0, max: 8 }), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(stepsMs, fc.boolean(), async (takenMs, isFailing) => {
      const turns = new Map<number, number[]>();
      function* steps() {
        for (const ms of takenMs) {
          turns.set(turn, [...(turns.get(turn) ?? []), ms]);
          nowMs += ms;
          yield;
        }
        if (isFailing) {
          throw new Error("the last step failed");
        }
        return "done";
      }
      const result = await inSlices(steps()).catch((error: Error) => error.message);
      const slices = [...turns.values()];
      return (
        result === (isFailing ? "the last step failed" : "done") &&
        isDeepStrictEqual(slices.flat(), takenMs) &&
        slices.every((slice) => sum(slice.slice(0, -1)) < 5) &&
        slices.slice(0, -1).every((slice) => sum(slice) >= 5)
      );
    }),
  );
});

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
