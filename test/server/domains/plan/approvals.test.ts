import type { JsonObject } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { test } from "tap";
import { OperationState, OperationsService } from "../../../../gen/operations/v1/operations_pb.ts";
import { rpcErrorOf } from "../../harness/rpc-error.ts";
import { type CallerUnderTest, endedOperation, type Json, startPlans } from "./callers-under-test.ts";

const createLv = "proto.LVService/CreateLV";
const removeLv = "proto.LVService/RemoveLV";
const resizeLv = "proto.LVService/ResizeLV";
const plans = "hostplane.v1.PlanService";
const forOperators = { approvals: 1, roles: ["operator"] };
const web = { name: "sandbox-web" };

/** Rules as in the configuration. */
function withRules(...rules: readonly JsonObject[]) {
  return { approvals: { rules } };
}

async function hasVolume({ call }: CallerUnderTest, name: string): Promise<boolean> {
  const { body } = await call("proto.VGService/GetLVList");
  return (body.volumes as readonly Json[]).some((volume) => volume.name === name);
}

async function getPlan({ call }: CallerUnderTest, id: string): Promise<Json> {
  return (await call(`${plans}/GetPlan`, { id })).body.plan ?? {};
}

test("a plan that needs approval is applied once another user has approved it", async (t) => {
  const { alice, bob, admin } = await startPlans(t, withRules(forOperators));
  const id = await alice.plan(removeLv, web);
  t.match(await getPlan(alice, id), { requiredApprovals: 1, approvals: undefined, approvable: undefined });
  const refused = await alice.apply(id);
  t.match(refused, {
    status: 400,
    reason: "APPROVAL_REQUIRED",
    metadata: { plan: id, missingApprovals: "1", effect: "none" },
    body: { code: "failed_precondition", message: /needs the approval of another person, and 1 is missing/ },
  });
  t.ok(await hasVolume(alice, "sandbox-web"));
  t.match(
    await getPlan(bob, id),
    { approvable: true, actor: "user/alice" },
    "visible to those who may call the method",
  );
  t.match((await bob.call(`${plans}/ListPlans`, { waiting: true })).body.plans, [{ id }]);
  t.match(await bob.approve(id), {
    status: 200,
    body: { plan: { approvals: [{ actor: "user/bob", at: /^20/ }], state: "SAVED_PLAN_STATE_OPEN" } },
  });
  t.same((await bob.call(`${plans}/ListPlans`, { waiting: true })).body, {});
  t.match(await alice.apply(id), { status: 200, body: { plan: { state: "SAVED_PLAN_STATE_APPLIED" } } });
  t.notOk(await hasVolume(alice, "sandbox-web"));
  const { body } = await admin.call("hostplane.v1.AuditService/ListEvents", { rpc: removeLv });
  t.match(body.events, [{ actor: "user/alice", outcome: "OK", planId: id, approvedBy: ["user/bob"] }]);
  const { body: approvals } = await admin.call("hostplane.v1.AuditService/ListEvents", {
    rpc: `${plans}/ApprovePlan`,
  });
  t.match(approvals.events, [{ actor: "user/bob", resource: `plans/${id}`, outcome: "OK" }]);
});

test("a direct call gets its plan, and the same call applies it once it is approved", async (t) => {
  const { alice, bob, carol, admin } = await startPlans(t, withRules({ methods: [removeLv], approvals: 2 }));
  const refused = await alice.call(removeLv, web);
  t.match(refused, { reason: "APPROVAL_REQUIRED", metadata: { missingApprovals: "2" } });
  const id = refused.metadata.plan ?? "";
  t.equal((await alice.call(removeLv, { lvName: web.name, ...web })).metadata.plan ?? id, id);
  t.equal((await alice.call(removeLv, web)).metadata.plan, id, "the same plan");
  t.not((await bob.call(removeLv, web)).metadata.plan, id, "another caller has another plan");
  t.equal((await bob.approve(id)).status, 200);
  t.match(
    await bob.approve(id),
    { status: 200, body: { plan: { approvals: { length: 1 } } } },
    "counts once",
  );
  t.match(await alice.call(removeLv, web), { metadata: { plan: id, missingApprovals: "1" } });
  t.equal((await carol.approve(id)).status, 200);
  t.ok(await hasVolume(alice, "sandbox-web"), "an approval changes nothing");
  t.equal((await alice.call(removeLv, web)).status, 200);
  t.notOk(await hasVolume(alice, "sandbox-web"));
  t.match(await getPlan(alice, id), { state: "SAVED_PLAN_STATE_APPLIED" });
  await admin.call(createLv, { ...web, sizeGb: 2 });
  const again = await alice.call(removeLv, web);
  t.equal(again.reason, "APPROVAL_REQUIRED", "once");
  t.not(again.metadata.plan, id);
  const { body } = await admin.call("hostplane.v1.AuditService/ListEvents", { rpc: removeLv, outcome: "OK" });
  t.match(body.events, [{ actor: "user/alice", planId: id, approvedBy: ["user/bob", "user/carol"] }]);
});

test("concurrent calls apply an approved plan once", async (t) => {
  const { alice, bob } = await startPlans(t, withRules({ methods: [createLv], approvals: 1 }));
  const request = { name: "data", sizeGb: 1 };
  const id = (await alice.call(createLv, request)).metadata.plan ?? "";
  await bob.approve(id);
  const answers = await Promise.all([
    alice.call(createLv, request),
    alice.call(createLv, request),
    alice.apply(id),
  ]);
  t.equal(
    answers.filter(({ status }) => status === 200).length,
    1,
    JSON.stringify(answers.map(({ body }) => body)),
  );
});

test("concurrent calls get one plan", async (t) => {
  const { alice } = await startPlans(t, withRules(forOperators));
  const answers = await Promise.all(Array.from({ length: 4 }, () => alice.call(removeLv, web)));
  t.equal(new Set(answers.map(({ metadata }) => metadata.plan)).size, 1);
});

test("a call of a stream is refused, and streams its progress once it is approved", async (t) => {
  const { admin, bob, url, tokenOf } = await startPlans(t, withRules({ callers: ["token"], approvals: 1 }));
  const headers = { authorization: `Bearer ${await tokenOf("robot", "ROLE_OPERATOR")}` };
  const client = createClient(
    OperationsService,
    createConnectTransport({ baseUrl: url, httpVersion: "1.1" }),
  );
  const states = async (id: string) => {
    const seen: OperationState[] = [];
    for await (const { state } of client.destroyHypervisor({ id }, { headers })) {
      seen.push(state);
    }
    return seen;
  };
  t.match(await rpcErrorOf(states("sandbox-hv-1")), { reason: "APPROVAL_REQUIRED" });
  const { body } = await bob.call(`${plans}/ListPlans`, { waiting: true });
  const id = String((body.plans as readonly Json[])[0]?.id);
  await bob.approve(id);
  t.equal((await states("sandbox-hv-1")).at(-1), OperationState.COMPLETED);
  const applied = await getPlan(admin, id);
  t.match(applied, { state: "SAVED_PLAN_STATE_APPLIED", operationIds: { length: 1 } });
  const operation = await endedOperation(admin, (applied.operationIds as readonly string[])[0]);
  t.match(operation.steps, [{ name: "checkPlan", state: "STEP_STATE_DONE" }]);
});

test("an approved stream whose caller leaves at once is applied at most once", async (t) => {
  const { admin, bob, url, tokenOf } = await startPlans(t, withRules({ callers: ["token"], approvals: 1 }));
  const headers = { authorization: `Bearer ${await tokenOf("robot", "ROLE_OPERATOR")}` };
  const client = createClient(
    OperationsService,
    createConnectTransport({ baseUrl: url, httpVersion: "1.1" }),
  );
  const call = async (signal?: AbortSignal) => {
    const stream = client.destroyHypervisor({ id: "sandbox-hv-1" }, { headers, ...(signal && { signal }) });
    for await (const _message of stream) {
      return "answered";
    }
    return "ended";
  };
  await call().catch(() => undefined);
  const { body } = await bob.call(`${plans}/ListPlans`, { waiting: true });
  const id = String((body.plans as readonly Json[])[0]?.id);
  await bob.approve(id);
  await call(AbortSignal.timeout(3)).catch(() => undefined);
  await call().catch(() => undefined);
  const list = await admin.call("hostplane.v1.OperationService/ListOperations", {
    kind: "hypervisors.destroy",
  });
  const operations = (list.body.operations ?? []) as readonly Json[];
  t.ok(operations.length <= 1, `${operations.length} operations`);
  t.not((await getPlan(admin, id)).state, "SAVED_PLAN_STATE_OPEN");
});

test("an approved plan ends PLAN_STALE when the system has moved", async (t) => {
  const { alice, bob, admin } = await startPlans(
    t,
    withRules({ methods: [removeLv], approvals: 1, roles: ["operator"] }),
  );
  const id = (await alice.call(removeLv, web)).metadata.plan ?? "";
  await bob.approve(id);
  await admin.call(resizeLv, { ...web, sizeGb: 3 });
  t.match(await alice.call(removeLv, web), { reason: "PLAN_STALE", body: { message: /sizeBytes was/ } });
  t.ok(await hasVolume(alice, "sandbox-web"));
  t.match(await bob.approve(id), { reason: "PLAN_STALE" });
  const next = await alice.call(removeLv, web);
  t.match(next, { reason: "APPROVAL_REQUIRED" });
  t.not(next.metadata.plan, id);
  await admin.call(resizeLv, { ...web, sizeGb: 4 });
  const last = await alice.call(removeLv, web);
  t.not(last.metadata.plan, next.metadata.plan, "what was not approved yet is planned again");
  t.match(await getPlan(alice, next.metadata.plan ?? ""), { state: "SAVED_PLAN_STATE_STALE" });
});

test("rules decide by method, loss, role and kind of caller, the first one that fits", async (t) => {
  const { alice, ci, admin } = await startPlans(
    t,
    withRules(
      { methods: [createLv], approvals: 0, callers: ["token"] },
      { roles: ["operator"], destroysData: true, approvals: 1 },
      { callers: ["token"], approvals: 2 },
    ),
  );
  t.equal((await ci.call(createLv, { name: "a", sizeGb: 1 })).status, 200, "an exception");
  t.match(await ci.call(resizeLv, { name: "a", sizeGb: 2 }), { metadata: { missingApprovals: "2" } });
  t.match(await ci.call(removeLv, { name: "a" }), { metadata: { missingApprovals: "1" } });
  t.equal(
    (await alice.call(resizeLv, { name: "a", sizeGb: 2 })).status,
    200,
    "a person, and nothing is lost",
  );
  t.match(await alice.call(removeLv, { name: "a" }), { metadata: { missingApprovals: "1" } });
  t.equal((await admin.call(removeLv, { name: "a" })).status, 200, "another role");
  t.equal((await alice.call(removeLv, { name: "a" })).status, 200, "a call that changes nothing");
});

test("a plan is not approved by its author, by a token, or by a caller without the right", async (t) => {
  const rules = withRules({ methods: ["hostplane.v1.UserService/DeleteUser"], approvals: 1 }, forOperators);
  const { alice, bob, ci, admin } = await startPlans(t, rules);
  const id = await alice.plan(removeLv, web);
  t.match(await alice.approve(id), {
    status: 403,
    reason: "APPROVAL_NOT_ALLOWED",
    body: { message: /user\/alice proposed it/ },
  });
  t.match(await ci.approve(id), {
    reason: "APPROVAL_NOT_ALLOWED",
    body: { message: /token\/ci is not a user/ },
  });
  const limited = await admin.plan("hostplane.v1.UserService/DeleteUser", { name: "carol" });
  t.match(await bob.approve(limited), { status: 404, reason: "PLAN_NOT_FOUND" }, "needs the role admin");
  t.match(await bob.approve("00000000-0000-4000-8000-000000000000"), { reason: "PLAN_NOT_FOUND" });
  t.match(await bob.approve(""), { reason: "INVALID_FIELD" });
  t.match(await bob.apply(id), { reason: "PLAN_NOT_FOUND" }, "it is alice's plan");
  t.match(await admin.call(`${plans}/BreakGlass`, { id, reason: "urgent" }), {
    reason: "APPROVAL_NOT_ALLOWED",
  });
  t.match(await alice.call(`${plans}/BreakGlass`, { id, reason: "urgent" }), { reason: "ROLE_REQUIRED" });
  t.match(await alice.apply(id), { reason: "APPROVAL_REQUIRED" });
  t.equal((await bob.approve(id)).status, 200);
  t.equal((await alice.apply(id)).status, 200);
  t.match(await bob.approve(id), { reason: "PLAN_USED" }, "after it was applied");
});

test("a plan that needs no approval is not approved", async (t) => {
  const { alice, bob } = await startPlans(t);
  const id = await alice.plan(removeLv, web);
  t.match(await bob.approve(id), { reason: "PLAN_NOT_FOUND" }, "others do not see it");
  const { admin } = await startPlans(t);
  t.match(await admin.approve(id), { reason: "PLAN_NOT_FOUND" });
});

test("an error of the planned call is the error of the direct call, and saves no plan", async (t) => {
  const { alice } = await startPlans(t, withRules(forOperators));
  t.match(await alice.call(createLv, { name: "-", sizeGb: 1 }), { status: 400, reason: "INVALID_FIELD" });
  t.match(await alice.call(createLv, { name: "x", sizeGb: 1000 }), { code: undefined, status: 429 });
  t.same((await alice.call(`${plans}/ListPlans`)).body, {});
});

test("pending plans of a caller are limited", async (t) => {
  const { alice, bob } = await startPlans(t, withRules(forOperators));
  for (let count = 0; count < 50; count += 1) {
    t.equal((await alice.call(createLv, { name: `v${count}`, sizeGb: 1 })).reason, "APPROVAL_REQUIRED");
  }
  t.match(await alice.call(createLv, { name: "v50", sizeGb: 1 }), {
    reason: "TOO_MANY_PLANS",
    body: { message: /50 open plans/ },
  });
  t.match(
    await alice.call(createLv, { name: "v0", sizeGb: 1 }),
    { reason: "APPROVAL_REQUIRED" },
    "a known one",
  );
  t.match(await bob.call(createLv, { name: "v50", sizeGb: 1 }), { reason: "APPROVAL_REQUIRED" });
});

test("a response with secrets is given to the direct call, whose plan cannot be applied by its id", async (t) => {
  const createToken = "hostplane.v1.UserService/CreateApiToken";
  const { admin } = await startPlans(t);
  t.match(
    await admin.call(`${plans}/CreatePlan`, {
      method: createToken,
      json: { name: "x", role: "ROLE_VIEWER" },
    }),
    {
      reason: "NOT_SAVABLE",
      body: { message: /CreateApiToken/ },
    },
  );
});

test("an approval by name covers an idempotency key: a repeated call returns the first response", async (t) => {
  const { alice, bob } = await startPlans(t, withRules({ methods: ["proto.LVService"], approvals: 1 }));
  const request = { name: "data", sizeGb: 1 };
  const key = { "idempotency-key": "one" };
  const id = (await alice.call(createLv, request, key)).metadata.plan ?? "";
  await bob.approve(id);
  const first = await alice.call(createLv, request, key);
  t.equal(first.status, 200);
  t.same((await alice.call(createLv, request, key)).body, first.body);
});

test("changes that were made while approval was not required need it once a rule names them", async (t) => {
  const { alice } = await startPlans(
    t,
    withRules({ methods: [removeLv], approvals: 1, callers: ["person"] }),
  );
  const id = await alice.plan(removeLv, web);
  t.match(await alice.apply(id), { reason: "APPROVAL_REQUIRED" });
});
