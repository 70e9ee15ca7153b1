import fc from "fast-check";
import { test } from "tap";
import { roundUpToExtents } from "../../../server/lvm/extents.ts";

test("rounding up to extents yields whole extents and adds less than one", async (t) => {
  const extents = fc.integer({ min: 10, max: 32 }).map((shift) => 1n << BigInt(shift));
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 1n << 60n }), extents, (bytes, extent) => {
      const rounded = roundUpToExtents(bytes, extent);
      return rounded % extent === 0n && rounded >= bytes && rounded - bytes < extent;
    }),
  );
  t.equal(roundUpToExtents(5n, 4n), 8n);
});
