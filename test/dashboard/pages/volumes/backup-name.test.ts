import { test } from "tap";
import { backupNameAt } from "../../../../dashboard/pages/volumes/backup-name.ts";

test("a backup's name contains the minute in UTC", async (t) => {
  t.equal(backupNameAt(new Date("2026-01-31T02:00:59.999+01:00")), "manual-20260131T0100Z");
});
