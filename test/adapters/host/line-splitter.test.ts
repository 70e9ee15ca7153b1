import fc from "fast-check";
import { test } from "tap";
import { createLineSplitter } from "../../../adapters/host/line-splitter.ts";

test("lines are the same however their bytes are split, and an incomplete last line is dropped", async (t) => {
  const cuts = fc.array(fc.nat(), { maxLength: 10 });
  const words = fc.array(
    fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\n", "")),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(
      words,
      fc.string().map((text) => text.replaceAll("\n", "")),
      cuts,
      (whole, half, places) => {
        const bytes = Buffer.from(whole.map((line) => `${line}\n`).join("") + half);
        const ends = places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b);
        const split = createLineSplitter();
        const found = [0, ...ends].flatMap((from, index) =>
          split(bytes.subarray(from, ends[index] ?? bytes.length)),
        );
        t.strictSame(
          found,
          whole.map((line) => Buffer.from(line).toString()),
        );
      },
    ),
    { numRuns: 300 },
  );
  const split = createLineSplitter();
  t.throws(() => {
    for (let mebibytes = 0; mebibytes < 18; mebibytes += 1) {
      split(new Uint8Array(1024 * 1024).fill(97));
    }
  }, RangeError);
});
