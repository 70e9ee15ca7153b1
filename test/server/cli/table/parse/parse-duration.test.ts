import { test } from "tap";
import { parseDuration } from "../../../../../server/cli/table/parse/parse-duration.ts";

test("a duration has a unit", async (t) => {
  t.equal(parseDuration("10s"), 10_000);
  t.equal(parseDuration("1.5h"), 5_400_000);
  t.equal(parseDuration("30d"), 2_592_000_000);
  t.equal(parseDuration("250ms"), 250);
  t.equal(parseDuration("0"), 0);
  for (const text of ["5", "", "-1s", "1 s", "1w", "s", "1e3s", "0x10s"]) {
    t.throws(() => parseDuration(text), { message: /expected a number with a unit/ }, text);
  }
});
