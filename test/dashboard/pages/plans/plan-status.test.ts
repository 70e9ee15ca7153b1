import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { test } from "tap";
import { approvalsText, planStatus, planTitle } from "../../../../dashboard/pages/plans/plan-status.ts";
import { SavedPlanSchema, SavedPlanState } from "../../../../gen/hostplane/v1/plan_pb.ts";

const { OPEN, APPLYING, APPLIED, STALE } = SavedPlanState;
const planOf = (facts: MessageInitShape<typeof SavedPlanSchema>) => create(SavedPlanSchema, facts);

test("the status of a plan says whether it waits, and for whom", (t) => {
  const waiting = { state: OPEN, requiredApprovals: 2, missingApprovals: 1 };
  const cases: readonly (readonly [MessageInitShape<typeof SavedPlanSchema>, kind: string, text: string])[] =
    [
      [{ state: OPEN }, "change", "open"],
      [waiting, "approval", "waits for approval"],
      [{ ...waiting, approvable: true }, "approval", "waits for your approval"],
      [{ ...waiting, missingApprovals: 0 }, "change", "approved"],
      [{ ...waiting, state: APPLYING }, "running", "being applied"],
      [{ ...waiting, state: APPLIED }, "ok", "applied"],
      [{ ...waiting, state: STALE }, "warn", "stale"],
    ];
  for (const [facts, kind, text] of cases) {
    t.same(planStatus(planOf(facts)), { kind, text });
  }
  t.equal(approvalsText(planOf(waiting)), "1 of 2");
  t.equal(approvalsText(planOf({})), "");
  t.end();
});

test("the title of a plan is its first change", (t) => {
  const method = "proto.LVService/RemoveLV";
  t.equal(planTitle(planOf({ method, plan: { changes: ["vg0/a is removed", "b"] } })), "vg0/a is removed");
  t.equal(planTitle(planOf({ method })), method);
  t.end();
});
