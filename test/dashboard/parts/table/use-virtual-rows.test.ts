import fc from "fast-check";
import { test } from "tap";
import { virtualRows } from "../../../../dashboard/parts/table/use-virtual-rows.ts";

test("the drawn rows cover the view, and together with the space around them make up the list", async (t) => {
  fc.assert(
    fc.property(
      fc.nat(20_000),
      fc.integer({ min: 16, max: 120 }),
      fc.integer({ min: -500, max: 2_000_000 }),
      fc.nat(3_000),
      (count, rowPx, scrolledPx, viewPx) => {
        const { start, end, beforePx, afterPx } = virtualRows(count, rowPx, scrolledPx, viewPx);
        const height = beforePx + (end - start) * rowPx + afterPx;
        const top = Math.max(0, scrolledPx);
        const isCovered =
          top >= count * rowPx || (beforePx <= top && (end === count || end * rowPx >= top + viewPx));
        return start >= 0 && start <= end && end <= count && height === count * rowPx && isCovered;
      },
    ),
  );
  t.pass("for any list and any scroll");
});

test("ten thousand rows draw fewer than a hundred", async (t) => {
  const { start, end } = virtualRows(10_000, 32, 100_000, 860);
  t.ok(end - start < 100, `${end - start} rows`);
});
