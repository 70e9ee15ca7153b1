import { test } from "tap";
import { localClock, localTime } from "../../../../dashboard/parts/text/local-time.ts";

const afternoon = new Date(2026, 10, 23, 15, 4, 5);
const midnight = new Date(2026, 10, 23, 0, 0, 9);

test("times use a 24-hour clock in every language", async (t) => {
  for (const locale of ["en-US", "en-GB", "de-DE", "es-ES", "ja-JP"]) {
    t.equal(localClock(afternoon, locale), "15:04:05", locale);
    t.equal(localClock(midnight, locale), "00:00:09", locale);
    t.equal(localTime(afternoon, midnight, locale), "15:04:05", "today's times have no date");
  }
  t.equal(localTime(afternoon, new Date(2026, 10, 24), "en-US"), "11/23/26, 15:04:05");
});
