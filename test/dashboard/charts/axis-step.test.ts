import fc from "fast-check";
import { test } from "tap";
import { axisStep } from "../../../dashboard/charts/axis-step.ts";

test("ticks are round numbers in the axis's unit", async (t) => {
  t.equal(axisStep(853, "bytes"), 256);
  t.equal(axisStep(3 * 2 ** 20, "bytes"), 2 ** 20);
  t.equal(axisStep(853, "count"), 500);
  t.equal(axisStep(70, "count"), 20);
  t.equal(axisStep(0, "count"), 0.5);
});

test("four steps fit any value, without wasting space", async () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 50 }), fc.constantFrom("bytes", "count"), (max, unit) => {
      const end = 4 * axisStep(max, unit);
      return end >= max * 0.999999 && end <= max * 2.5000001;
    }),
  );
});
