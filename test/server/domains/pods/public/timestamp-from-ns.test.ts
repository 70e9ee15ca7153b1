import { toJson } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { test } from "tap";
import { timestampFromNs } from "../../../../../server/domains/pods/public/timestamp-from-ns.ts";

test("nanoseconds are converted to a timestamp, also before 1970", async (t) => {
  for (const [timeNs, text] of [
    [0n, "1970-01-01T00:00:00Z"],
    [1_000_000_001n, "1970-01-01T00:00:01.000000001Z"],
    [-1n, "1969-12-31T23:59:59.999999999Z"],
    [-1_000_000_000n, "1969-12-31T23:59:59Z"],
    // Go's zero time, which Podman returns for events that have not happened.
    [-62_135_596_800_000_000_000n, "0001-01-01T00:00:00Z"],
  ] as const) {
    t.equal(toJson(TimestampSchema, timestampFromNs(timeNs)), text);
  }
});
