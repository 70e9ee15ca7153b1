import { create } from "@bufbuild/protobuf";
import { test } from "tap";
import { compareChecks } from "../../../../dashboard/pages/storage/compare-checks.ts";
import { CephHealthCheckSchema } from "../../../../gen/hostplane/v1/storage_pb.ts";

test("errors come before warnings, and muted checks last", async (t) => {
  const checks = [
    { code: "A_MUTED", severity: "HEALTH_ERR", muted: true },
    { code: "OSD_DOWN", severity: "HEALTH_WARN" },
    { code: "MON_DOWN", severity: "HEALTH_WARN" },
    { code: "OSD_FULL", severity: "HEALTH_ERR" },
  ].map((check) => create(CephHealthCheckSchema, check));
  t.same(
    checks.toSorted(compareChecks).map(({ code }) => code),
    ["OSD_FULL", "MON_DOWN", "OSD_DOWN", "A_MUTED"],
  );
});
