import fc from "fast-check";
import { test } from "tap";
import {
  bytesText,
  operationsText,
  throughputText,
} from "../../../../../server/domains/storage/figures/text-figures.ts";

test("bytes are formatted as in the original", async (t) => {
  const cases: readonly [bigint | number, string][] = [
    [0n, "0.00 B"],
    [853n, "853.00 B"],
    [1024n, "1.00 KiB"],
    [1536n, "1.50 KiB"],
    [834_636_300_000n, "777.32 GiB"],
    [1n << 40n, "1.00 TiB"],
    [1n << 60n, "1024.00 PiB"],
    [(1n << 30n) - 1n, "1.00 GiB"],
  ];
  for (const [bytes, text] of cases) {
    t.equal(bytesText(bytes), text);
  }
  t.equal(throughputText(853, "rd"), "853.00 B/s rd");
  t.equal(throughputText(0, "wr"), "0.00 B/s wr");
  t.equal(operationsText(1, "rd"), "1 ops/s rd");
  t.equal(operationsText(0, "wr"), "0 ops/s wr");
});

test("formatted bytes are rounded to a hundredth of their unit, and below 1024 of it", async () => {
  const sizes = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 1n << 60n }), (bytes) => {
      const [, figure = "", unit = ""] = /^(\d+\.\d\d) ([KMGTP]?i?B)$/.exec(bytesText(bytes)) ?? [];
      const size = 1024 ** sizes.indexOf(unit);
      const isClose = Math.abs(Number(figure) * size - Number(bytes)) <= 0.00501 * size;
      return isClose && (Number(figure) < 1024 || unit === "PiB");
    }),
  );
});
