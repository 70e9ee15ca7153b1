import fc from "fast-check";
import { test } from "tap";
import { knownRuns } from "../../../../dashboard/parts/figure/known-runs.ts";

test("known values are split where one is missing", async (t) => {
  t.same(knownRuns([undefined, 1, 2, undefined, 3]), [
    [
      [1, 1],
      [2, 2],
    ],
    [[4, 3]],
  ]);
  t.same(knownRuns([]), []);
});

test("no known value is lost, and no run is empty or joins a gap", async (t) => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(9), { nil: undefined })), (values) => {
      const runs = knownRuns(values);
      const known = values.flatMap((value, index) => (value === undefined ? [] : [[index, value]]));
      return (
        JSON.stringify(runs.flat()) === JSON.stringify(known) &&
        runs.every((run) => run.every(([index], at) => index === (run[0]?.[0] ?? 0) + at))
      );
    }),
  );
  t.pass("for any values");
});
