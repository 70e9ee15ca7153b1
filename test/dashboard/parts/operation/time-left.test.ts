import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { test } from "tap";
import { roughDurationText, timeLeftMs } from "../../../../dashboard/parts/operation/time-left.ts";
import { OperationState } from "../../../../gen/hostplane/v1/operation_pb.ts";

const running = { state: OperationState.ACTIVE, progress: 0.25, startedAt: timestampFromMs(0), attempt: 1 };

test("the time left is as the operation was so far", async (t) => {
  t.equal(timeLeftMs(running, 60_000), 180_000);
});

test("the time left is unknown at the start, without progress, after a retry and for others", async (t) => {
  t.equal(timeLeftMs(running, 1_000), undefined);
  t.equal(timeLeftMs({ ...running, progress: undefined }, 60_000), undefined);
  t.equal(timeLeftMs({ ...running, progress: 0 }, 60_000), undefined);
  t.equal(timeLeftMs({ ...running, attempt: 2 }, 60_000), undefined);
  t.equal(timeLeftMs({ ...running, state: OperationState.UNDOING }, 60_000), undefined);
});

test("an estimate has one unit", async (t) => {
  t.equal(roughDurationText(2_000), "5 s");
  t.equal(roughDurationText(42_000), "40 s");
  t.equal(roughDurationText(290_000), "5 min");
  t.equal(roughDurationText(2 * 3_600_000), "2 h");
});
