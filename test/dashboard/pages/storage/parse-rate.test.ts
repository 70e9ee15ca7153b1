import fc from "fast-check";
import { test } from "tap";
import { parseRate } from "../../../../dashboard/pages/storage/parse-rate.ts";
import { operationsText, throughputText } from "../../../../server/domains/storage/figures/text-figures.ts";

test("rates are parsed in the contract's format", async (t) => {
  t.equal(parseRate("853.00 B/s rd"), 853);
  t.equal(parseRate("1.50 KiB/s wr"), 1536);
  t.equal(parseRate("2.00 PiB/s rd"), 2 ** 51);
  t.equal(parseRate("12 ops/s wr"), 12);
});

test("anything else is unknown, not 0", async (t) => {
  for (const text of ["", "853.00 B/s", "853 B/s up", "fast B/s rd", "1 KB/s rd", "-1.00 B/s rd"]) {
    t.equal(parseRate(text), undefined, text);
  }
});

test("every rate that the gateway writes is parsed back, with the precision of its text", async () => {
  const direction = fc.constantFrom<"rd" | "wr">("rd", "wr");
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 53 - 1 }), direction, (bytes, which) => {
      const read = parseRate(throughputText(bytes, which)) ?? Number.NaN;
      return Math.abs(read - bytes) <= bytes * 0.006 + 0.01;
    }),
  );
  fc.assert(
    fc.property(fc.nat(), direction, (count, which) => parseRate(operationsText(count, which)) === count),
  );
});

test("never throws", async () => {
  fc.assert(fc.property(fc.string(), (text) => (parseRate(text) ?? 0) >= 0));
});
