import fc from "fast-check";
import { test } from "tap";
import { bytesFromSize, sizeGbFromBytes } from "../../../../server/domains/volumes/size.ts";

test("sizes beyond LVM's integers are rejected with the limit", async (t) => {
  t.throws(() => bytesFromSize({ gib: 0n }), {
    reason: "INVALID_FIELD",
    message: "size_gb: must be at least 1",
  });
  t.throws(() => bytesFromSize({ gib: 1n << 34n }), { reason: "INVALID_FIELD", message: /17179869184/ });
  t.equal(bytesFromSize({ gib: (1n << 34n) - 1n }), ((1n << 34n) - 1n) << 30n);
  for (const bytes of [0n, -1n]) {
    t.throws(() => bytesFromSize({ bytes }), {
      reason: "INVALID_FIELD",
      message: /^size_bytes: must be at least 1/,
    });
  }
  t.equal(bytesFromSize({ bytes: (1n << 63n) - 1n }), (1n << 63n) - 1n);
});

test("a size in GiB is rounded up by less than one GiB", async (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: (1n << 63n) - 1n }), (bytes) => {
      const gib = sizeGbFromBytes(bytes) << 30n;
      return gib >= bytes && gib - bytes < 1n << 30n;
    }),
  );
  t.equal(sizeGbFromBytes(1n), 1n);
});
