import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { test } from "tap";
import { stepTookText } from "../../../../dashboard/parts/operation/step-took-text.ts";
import { StepState } from "../../../../gen/hostplane/v1/operation_pb.ts";

const times = { startedAt: timestampFromMs(0), endedAt: timestampFromMs(5_000) };

test("the duration of an undone step is not its time until the end of undoing", async (t) => {
  t.equal(stepTookText({ state: StepState.DONE, ...times }), "5 s");
  t.equal(stepTookText({ state: StepState.UNDONE, ...times }), "5 s until undone");
  t.equal(stepTookText({ state: StepState.UNDONE, startedAt: times.startedAt }), "");
});
