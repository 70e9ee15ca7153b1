import fc from "fast-check";
import { test } from "tap";
import { describeSize } from "../../../adapters/host/describe-size.ts";

test("a formatted size is close to the bytes, and includes them exactly", async (t) => {
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
