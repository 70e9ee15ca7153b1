import fc from "fast-check";
import { test } from "tap";
import { durationText } from "../../../../dashboard/parts/text/duration-text.ts";

test("durations have at most two units", async (t) => {
  t.equal(durationText(0), "0 ms");
  t.equal(durationText(340), "340 ms");
  t.equal(durationText(1000), "1 s");
  t.equal(durationText(1449), "1.4 s");
  t.equal(durationText(9_960), "10 s");
  t.equal(durationText(59_700), "1 min");
  t.equal(durationText(125_000), "2 min 5 s");
  t.equal(durationText(11_400_000), "3 h 10 min");
  t.equal(durationText(187_200_000), "2 d 4 h");
});

test("no unit of a duration overflows", async () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 1e10 }),
      (ms) => !/\b(60 s|60 min|24 h|1000 ms)\b/.test(durationText(ms)),
    ),
  );
});
