import { test } from "tap";
import { sparkline } from "../../../../server/cli/table/sparkline.ts";

test("bars run from the smallest to the largest value, and unknown values are dots", async (t) => {
  t.equal(sparkline([0, 1, 2, 3, 4, 5, 6, 7]), "▁▂▃▄▅▆▇█");
  t.equal(sparkline([10, Number.NaN, 20]), "▁·█");
  t.equal(sparkline([5, 5]), "▁▁");
  t.equal(sparkline([Number.NaN]), "·");
  t.equal(sparkline([]), "");
});
