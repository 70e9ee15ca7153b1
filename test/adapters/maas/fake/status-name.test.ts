import { test } from "tap";
import { statusCode, statusName } from "../../../../adapters/maas/fake/status-name.ts";
import { machineStatuses } from "../../../../adapters/maas/machine-status.ts";

test("the status numbers are MAAS's", async (t) => {
  t.same(
    machineStatuses.map((status) => statusCode(status)),
    Array.from({ length: 23 }, (_, code) => code),
  );
  t.equal(statusName("failedReleasing"), "Releasing failed");
});
