import { test } from "tap";
import { localTime } from "../../../../dashboard/parts/text/local-time.ts";
import { withLocalTimes } from "../../../../dashboard/parts/text/with-local-times.ts";

test("exact times in a sentence are shown in local time, and the rest stays", async (t) => {
  const at = new Date("2026-11-26T09:00:00.250Z");
  const now = new Date("2026-11-28T09:00:00Z");
  t.equal(
    withLocalTimes(`flaps=1 -10, seen since ${at.toISOString()}; 2026-11-26`, now, "en-GB"),
    `flaps=1 -10, seen since ${localTime(at, now, "en-GB")}; 2026-11-26`,
  );
  t.equal(withLocalTimes("3 of 3 ready", now), "3 of 3 ready");
});
