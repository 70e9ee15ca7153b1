import { test } from "tap";
import { withSizes } from "../../../../dashboard/parts/text/with-sizes.ts";

test("the bytes of an error about space are written as sizes", async (t) => {
  t.equal(
    withSizes("no enough space left on device class ssd: free=5368709120, requested=10737418240"),
    "no enough space left on device class ssd: 5 GiB free, 10 GiB requested",
  );
  t.equal(withSizes("carefree=1 of 2"), "carefree=1 of 2");
});
