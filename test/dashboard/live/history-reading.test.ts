import { create } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { test } from "tap";
import { historyReadingOf } from "../../../dashboard/live/history-reading.ts";
import { GetHistoryResponseSchema } from "../../../gen/hostplane/v1/history_pb.ts";

test("runs become a value for each interval, and what is in no run is unknown", async (t) => {
  const { startMs, intervalMs, subjects } = historyReadingOf(
    create(GetHistoryResponseSchema, {
      startTime: timestampFromMs(60_000),
      interval: durationFromMs(30_000),
      points: 6,
      subjects: [
        { subject: "pods/1", figures: [{ name: "used", starts: [1, 4], lengths: [2, 2], values: [7, 0] }] },
      ],
    }),
  );
  t.equal(startMs, 60_000);
  t.equal(intervalMs, 30_000);
  t.same(subjects.get("pods/1")?.figures.get("used")?.values, [undefined, 7, 7, undefined, 0, 0]);
  t.equal(subjects.get("pods/2"), undefined);
});
