import fc from "fast-check";
import { test } from "tap";
import {
  bytesFromSizeGb,
  describeSize,
  roundUpToExtents,
  sizeGbFromBytes,
} from "../../../../server/domains/volumes/size.ts";

test("sizes that LVM could not count are refused with the limit", async (t) => {
  t.throws(() => bytesFromSizeGb(0n), { reason: "INVALID_FIELD", message: "size_gb: must be at least 1" });
  t.throws(() => bytesFromSizeGb(1n << 34n), { reason: "INVALID_FIELD", message: /17179869184/ });
  t.equal(bytesFromSizeGb((1n << 34n) - 1n), ((1n << 34n) - 1n) << 30n);
});

test("a size in GiB is never less than the bytes, and less than one GiB more", async (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: (1n << 63n) - 1n }), (bytes) => {
      const gib = sizeGbFromBytes(bytes) << 30n;
      return gib >= bytes && gib - bytes < 1n << 30n;
    }),
  );
  t.equal(sizeGbFromBytes(1n), 1n);
});

test("rounding to extents gives whole extents and adds less than one", async (t) => {
  const extents = fc.integer({ min: 10, max: 32 }).map((shift) => 1n << BigInt(shift));
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 1n << 60n }), extents, (bytes, extent) => {
      const rounded = roundUpToExtents(bytes, extent);
      return rounded % extent === 0n && rounded >= bytes && rounded - bytes < extent;
    }),
  );
  t.equal(roundUpToExtents(5n, 4n), 8n);
});

test("a size for people is close to the bytes, and names them exactly", async (t) => {
  t.equal(describeSize(0n), "0 bytes");
  t.equal(describeSize(1023n), "1023 bytes");
  t.equal(describeSize(4n << 20n), "4 MiB (4194304 bytes)");
  t.equal(describeSize(5n << 29n), "2.5 GiB (2684354560 bytes)");
  t.equal(describeSize(1n << 63n), "8 EiB (9223372036854775808 bytes)");
  const factors = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, PiB: 2 ** 50, EiB: 2 ** 60 };
  fc.assert(
    fc.property(fc.bigInt({ min: 1024n, max: 1n << 64n }), (bytes) => {
      const [, size, unit, exact] = /^([\d.]+) (\w+) \((\d+) bytes\)$/.exec(describeSize(bytes)) ?? [];
      const shown = Number(size) * factors[unit as keyof typeof factors];
      return exact === String(bytes) && Number(size) <= 1024 && Math.abs(shown / Number(bytes) - 1) < 0.01;
    }),
  );
});
