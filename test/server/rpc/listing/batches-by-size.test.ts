import fc from "fast-check";
import { test } from "tap";
import { batchesBySize } from "../../../../server/rpc/listing/batches-by-size.ts";

test("batches hold all items in order, and exceed no limit by more than an item", async (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 60 }),
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 1, max: 60 }),
      (sizes, items, bytes) => {
        const batches = batchesBySize(sizes, (size) => size, { items, bytes });
        const bytesOf = (batch: readonly number[]) => batch.reduce((sum, size) => sum + size, 0);
        return (
          JSON.stringify(batches.flat()) === JSON.stringify(sizes) &&
          batches.every(
            (batch) => batch.length > 0 && batch.length <= items && bytesOf(batch.slice(0, -1)) < bytes,
          )
        );
      },
    ),
  );
  t.same(
    batchesBySize([1, 2, 3], () => 1, { items: 2, bytes: 9 }),
    [[1, 2], [3]],
  );
  t.same(
    batchesBySize([], () => 1, { items: 2, bytes: 9 }),
    [],
  );
});
