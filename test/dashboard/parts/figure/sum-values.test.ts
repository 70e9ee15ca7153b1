import { test } from "tap";
import { sumValues } from "../../../../dashboard/parts/figure/sum-values.ts";

test("series are added up, and a sum without one of its values is unknown", async (t) => {
  t.same(
    sumValues([
      [1, 2, undefined],
      [10, undefined, 30],
    ]),
    [11, undefined, undefined],
  );
  t.same(sumValues([[1, undefined]]), [1, undefined]);
  t.same(sumValues([]), []);
  t.same(sumValues([[1, 2], []]), [undefined, undefined], "one that is not read yet");
});
