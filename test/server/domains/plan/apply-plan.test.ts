import type { JsonValue } from "@bufbuild/protobuf";
import { test } from "tap";
import { type CallerUnderTest, endedOperation, type Json, startPlans } from "./callers-under-test.ts";

const createLv = "proto.LVService/CreateLV";
const resizeLv = "proto.LVService/ResizeLV";
const removeLv = "proto.LVService/RemoveLV";
const getPlan = "hostplane.v1.PlanService/GetPlan";

async function volumesOf({ call }: CallerUnderTest): Promise<readonly string[]> {
  const { body } = await call("proto.VGService/GetLVList");
  return (body.volumes as readonly { readonly name: string }[]).map(({ name }) => name).toSorted();
}

test("a plan is applied once, and applying it again returns the same result", async (t) => {
  const { alice, admin } = await startPlans(t);
  const id = await alice.plan(createLv, { name: "data", sizeGb: 1 });
  const first = await alice.apply(id);
  t.match(first.body, {
    plan: { id, state: "SAVED_PLAN_STATE_APPLIED" },
    response: { volume: { name: "data", sizeGb: "1" } },
    responseBinary: /^.+$/,
  });
  t.ok((await volumesOf(alice)).includes("data"));
  t.equal((await alice.call(removeLv, { name: "data" })).status, 200);
  const second = await alice.apply(id);
  t.same(second.body, first.body);
  t.equal(second.headers.get("hostplane-idempotent-replay"), "true");
  t.notOk((await volumesOf(alice)).includes("data"), "it is not created again");
  const { body } = await admin.call("hostplane.v1.AuditService/ListEvents", { actor: "user/alice" });
  const rpcs = (body.events as readonly Json[]).map(({ rpc }) => rpc);
  t.equal(rpcs.filter((rpc) => rpc === createLv).length, 1, "the planned call has its own event");
  t.equal(rpcs.filter((rpc) => rpc === "hostplane.v1.PlanService/ApplyPlan").length, 2);
});

test("two concurrent calls apply a plan once", async (t) => {
  const { alice } = await startPlans(t);
  const id = await alice.plan(createLv, { name: "data", sizeGb: 1 });
  const [first, second] = await Promise.all([alice.apply(id), alice.apply(id)]);
  t.equal(first.status, 200);
  t.same(second.body, first.body);
});

test("a plan ends PLAN_STALE with what has changed, before anything is changed", async (t) => {
  const { alice } = await startPlans(t);
  const web = { name: "sandbox-web" };
  const id = await alice.plan(removeLv, web);
  t.equal((await alice.call(resizeLv, { ...web, sizeGb: 3 })).status, 200);
  const stale = await alice.apply(id);
  t.match(stale, { status: 400, reason: "PLAN_STALE" });
  t.match(
    stale.body.message,
    /nothing was changed: volumeGroups\/sandbox-vg\/volumes\/sandbox-web sizeBytes was "2147483648", is "3221225472"/,
  );
  t.ok((await volumesOf(alice)).includes("sandbox-web"));
  t.match((await alice.call(getPlan, { id })).body.plan, {
    state: "SAVED_PLAN_STATE_STALE",
    staleBecause: /sizeBytes/,
  });
  t.match(await alice.apply(id), { reason: "PLAN_STALE", body: { message: /sizeBytes/ } }, "for good");
});

test("another volume of the same name and size is another volume", async (t) => {
  const { alice } = await startPlans(t);
  await alice.call(createLv, { name: "data", sizeGb: 1 });
  const id = await alice.plan(removeLv, { name: "data" });
  await alice.call(removeLv, { name: "data" });
  await alice.call(createLv, { name: "data", sizeGb: 1 });
  t.match(await alice.apply(id), { reason: "PLAN_STALE", body: { message: / uuid was / } });
  t.ok((await volumesOf(alice)).includes("data"));
});

test("a state that no longer allows the change makes its plan stale", async (t) => {
  const { alice } = await startPlans(t);
  const created = await alice.plan(createLv, { name: "data", sizeGb: 1 });
  const large = await alice.plan(createLv, { name: "large", sizeGb: 9 });
  const resized = await alice.plan(resizeLv, { name: "sandbox-web", sizeGb: 3 });
  await alice.call(createLv, { name: "data", sizeGb: 2 });
  await alice.call(removeLv, { name: "sandbox-web" });
  t.match(await alice.apply(created), { reason: "PLAN_STALE", body: { message: /already exists/ } });
  t.match(await alice.apply(resized), { reason: "PLAN_STALE", body: { message: /not found/ } });
  await alice.call(createLv, { name: "more", sizeGb: 7 });
  t.match(await alice.apply(large), { reason: "PLAN_STALE", body: { message: /no enough space left/ } });
});

test("a plan is applied by its owner only", async (t) => {
  const { alice, bob, admin } = await startPlans(t);
  const id = await alice.plan(removeLv, { name: "sandbox-web" });
  for (const other of [bob, admin]) {
    t.match(await other.apply(id), { status: 404, reason: "PLAN_NOT_FOUND" });
  }
  t.match(await alice.apply("00000000-0000-4000-8000-000000000000"), { reason: "PLAN_NOT_FOUND" });
  t.match(await alice.apply(""), { reason: "INVALID_FIELD" });
  t.match(await alice.call("hostplane.v1.PlanService/ApplyPlan", { id }, { "idempotency-key": "k" }), {
    reason: "IDEMPOTENCY_KEY_NOT_TAKEN",
  });
  t.ok((await volumesOf(alice)).includes("sandbox-web"));
  t.equal((await alice.apply(id)).status, 200);
});

test("an error that says nothing of the state leaves the plan open", async (t) => {
  const { alice, admin } = await startPlans(t);
  const id = await alice.plan(removeLv, { name: "sandbox-web" });
  const role = async (name: JsonValue, services: JsonValue) =>
    admin.call("hostplane.v1.UserService/UpdateUser", { name: "alice", role: name, services });
  await role("ROLE_OPERATOR", { services: ["proto.VGService"] });
  t.match(await alice.apply(id), { status: 403, reason: "SERVICE_NOT_ALLOWED" });
  await role("ROLE_VIEWER", { services: [] });
  t.match(await alice.apply(id), { status: 403, reason: "ROLE_REQUIRED" });
  await role("ROLE_OPERATOR", { services: [] });
  t.match((await alice.call(getPlan, { id })).body.plan, { state: "SAVED_PLAN_STATE_OPEN" });
  t.equal((await alice.apply(id)).status, 200);
});

test("the plan of a stream of progress is applied as an operation, which checks it in its first step", async (t) => {
  const { alice } = await startPlans(t);
  const id = await alice.plan("operations.v1.OperationsService/DestroyHypervisor", { id: "sandbox-hv-1" });
  const first = await alice.apply(id);
  t.match(first, { status: 200, body: { plan: { operationIds: [/^[\da-f-]{36}$/] } } });
  t.equal(first.headers.get("hostplane-operation"), first.body.plan?.operationIds?.join(","));
  t.same((await alice.apply(id)).body, first.body);
  const operation = await endedOperation(alice, first.body.plan?.operationIds?.[0]);
  t.match(operation, { state: "OPERATION_STATE_COMPLETED", kind: "hypervisors.destroy" });
  t.match((operation.steps as readonly Json[])[0], { name: "checkPlan", state: "STEP_STATE_DONE" });
});

test("each operation of a plan for several resources checks its own part", async (t) => {
  const { alice } = await startPlans(t);
  const ids = ["sandbox-hv-1", "sandbox-hv-3"];
  const created = await alice.plan("operations.v1.OperationsService/CreateHypervisor", {
    id: "sandbox-hv-3",
  });
  await endedOperation(alice, (await alice.apply(created)).body.plan?.operationIds?.[0]);
  const id = await alice.plan("operations.v1.OperationsService/DestroyHypervisors", { ids });
  const applied = await alice.apply(id);
  t.equal(applied.body.plan?.operationIds?.length, ids.length);
  const started = await alice.call("hostplane.v1.OperationService/ListOperations", {
    kind: "hypervisors.destroy",
  });
  const operations = started.body.operations as readonly Json[];
  t.equal(operations.length, ids.length);
  for (const { id: operationId } of operations) {
    t.match(await endedOperation(alice, operationId), { state: "OPERATION_STATE_COMPLETED" });
  }
});

test("a pod that was started meanwhile is not removed", async (t) => {
  const { alice } = await startPlans(t);
  const id = await alice.plan("hostplane.v1.PodService/RemovePod", { pod: "sandbox-new", force: true });
  const { body } = await alice.call("hostplane.v1.PodService/StartPod", { pod: "sandbox-new" });
  await endedOperation(alice, (body.operation as Json).id);
  t.match(await alice.apply(id), { reason: "PLAN_STALE", body: { message: / containers was / } });
});
