import fc from "fast-check";
import { test } from "tap";
import { parseRate } from "../../../../dashboard/pages/storage/parse-rate.ts";
import { operationsText, throughputText } from "../../../../server/domains/storage/text-figures.ts";

test("a rate is read as the contract writes it", async (t) => {
  t.equal(parseRate("853.00 B/s rd"), 853);
  t.equal(parseRate("1.50 KiB/s wr"), 1536);
  t.equal(parseRate("2.00 PiB/s rd"), 2 ** 51);
  t.equal(parseRate("12 ops/s wr"), 12);
});

test("what is no rate is not known, and not 0", async (t) => {
  for (const text of ["", "853.00 B/s", "853 B/s up", "fast B/s rd", "1 KB/s rd", "-1.00 B/s rd"]) {
    t.equal(parseRate(text), undefined, text);
  }
});

test("whatever the gateway writes is read back, as exactly as it was written", async () => {
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

test("no text makes it throw", async () => {
  fc.assert(fc.property(fc.string(), (text) => (parseRate(text) ?? 0) >= 0));
});
