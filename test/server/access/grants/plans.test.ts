import { type Test, test } from "tap";
import { startGatewayUnderTest } from "../../harness/gateway-under-test.ts";
import { type Answer, grantsOf } from "./grants-under-test.ts";

/** Starts a gateway where another person has to approve every loss. */
async function startApprovals(t: Test) {
  const approvals = { rules: [{ destroysData: true, approvals: 1, withinMinutes: 60 }] };
  const { url } = await startGatewayUnderTest(t, { approvals }, { hasLogin: true });
  return grantsOf(t, url);
}

const operatorOf = (name: string) => ({
  role: "ROLE_OPERATOR",
  resources: [`volumeGroups/sandbox-vg/volumes/${name}`],
});

/** Returns the id of the plan that a refused call has. */
function planOf({ body }: Answer): string {
  return /the plan ([-\w]+)/.exec(String(body.message))?.[1] ?? "";
}

test("an approver needs a grant for all that the planned call needs", async (t) => {
  const { admin, userWith } = await startApprovals(t);
  await admin.call("proto.LVService/CreateLV", { name: "web-1", sizeGb: "1" });
  const snapshot = { source: "web-1", name: "db-snapshot" };
  t.equal((await admin.call("hostplane.v1.VolumeService/CreateSnapshot", snapshot)).status, 200);
  const proposed = await admin.call("hostplane.v1.VolumeService/MergeSnapshot", { name: "db-snapshot" });
  t.equal(proposed.reason, "APPROVAL_REQUIRED", "the merge overwrites web-1");
  const id = planOf(proposed);
  const some = await userWith("web", [operatorOf("web-*")]);
  t.match(await some.call("hostplane.v1.PlanService/GetPlan", { id }), {
    body: { plan: { plan: { resource: "volumeGroups/sandbox-vg/volumes/web-1" } } },
  });
  t.match(await some.call("hostplane.v1.PlanService/ApprovePlan", { id }), {
    reason: "NOT_GRANTED",
    body: { message: /covers volumeGroups\/sandbox-vg\/volumes\/db-snapshot/ },
  });
  const all = await userWith("everything", [operatorOf("db-*"), operatorOf("web-*")]);
  t.equal((await all.call("hostplane.v1.PlanService/ApprovePlan", { id })).status, 200);
});

test("the plans of others are shown to those who may make them", async (t) => {
  const { admin, userWith } = await startApprovals(t);
  await admin.call("proto.LVService/CreateLV", { name: "web-1", sizeGb: "1" });
  const id = planOf(await admin.call("proto.LVService/RemoveLV", { name: "web-1" }));
  const viewer = await userWith("viewer", [
    operatorOf("db-*"),
    { ...operatorOf("web-*"), role: "ROLE_VIEWER" },
  ]);
  const operator = await userWith("operator", [operatorOf("web-*")]);
  t.equal((await viewer.call("hostplane.v1.PlanService/GetPlan", { id })).reason, "PLAN_NOT_FOUND");
  t.match((await viewer.call("hostplane.v1.PlanService/ListPlans")).body, {}, "none are listed");
  t.notMatch((await viewer.call("hostplane.v1.PlanService/ListPlans")).text, id);
  t.match((await operator.call("hostplane.v1.PlanService/ListPlans")).body.plans, [{ id, approvable: true }]);
});
