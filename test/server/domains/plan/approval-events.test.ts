import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { test } from "tap";
import { type Event, EventService } from "../../../../gen/hostplane/v1/event_pb.ts";
import { type Json, startPlans } from "./callers-under-test.ts";

const removeLv = "proto.LVService/RemoveLV";
const plans = "hostplane.v1.PlanService";
const web = { name: "sandbox-web" };
const rules = [{ roles: ["operator"], approvals: 2 }];

/** Subscribes to the topic, and returns a function that returns the next events. */
async function follow(url: string, token: string) {
  const transport = createConnectTransport({ baseUrl: url, httpVersion: "1.1" });
  const headers = { authorization: `Bearer ${token}` };
  const messages = createClient(EventService, transport)
    .subscribe({ topics: ["plan"] }, { headers })
    [Symbol.asyncIterator]();
  await messages.next();
  return async (count: number): Promise<readonly Event[]> => {
    const events: Event[] = [];
    while (events.length < count) {
      const { value } = await messages.next();
      if (value?.message.case === "event") {
        events.push(value.message.value);
      }
    }
    return events;
  };
}

test("the life of a plan that needs approval is a series of events", async (t) => {
  const { url, alice, bob, carol, tokenOf } = await startPlans(t, { approvals: { rules } });
  const next = await follow(url, await tokenOf("reader", "ROLE_VIEWER"));
  const id = (await alice.call(removeLv, web)).metadata.plan ?? "";
  await bob.approve(id);
  await bob.approve(id);
  await carol.approve(id);
  await alice.call(removeLv, web);
  const withdrawn = await alice.plan("proto.LVService/CreateLV", { name: "a", sizeGb: 1 });
  await alice.call(`${plans}/DeletePlan`, { id: withdrawn });
  const about = { id, method: removeLv, resource: "volumeGroups/sandbox-vg/volumes/sandbox-web" };
  const plan = { ...about, proposedBy: "user/alice", requiredApprovals: 2 };
  t.match(await next(6), [
    { type: "plan.proposed", resource: `plans/${id}`, detail: { value: { ...plan, missingApprovals: 2 } } },
    { type: "plan.approved", detail: { value: { ...plan, approvedBy: "user/bob", missingApprovals: 1 } } },
    { type: "plan.approved", detail: { value: { ...plan, approvedBy: "user/carol", missingApprovals: 0 } } },
    { type: "plan.applied", detail: { value: plan } },
    { type: "plan.proposed", detail: { value: { id: withdrawn } } },
    { type: "plan.deleted", detail: { value: { id: withdrawn } } },
  ]);
});

test("a caller gets no events of plans of services that it may not call", async (t) => {
  const { url, admin, alice, bob } = await startPlans(t, { approvals: { rules } });
  const { body } = await admin.call("hostplane.v1.UserService/CreateApiToken", {
    name: "limited",
    role: "ROLE_VIEWER",
    services: ["hostplane.v1.PodService"],
  });
  const next = await follow(url, String(body.token));
  await alice.plan(removeLv, web);
  const seen = await bob.plan("hostplane.v1.PodService/StopPod", { pod: "sandbox-web" });
  t.match(await next(1), [{ resource: `plans/${seen}` }]);
});

test("the glass is broken at the admin socket only, with a reason, loudly", async (t) => {
  const { url, admin, alice, adminSocket, log, tokenOf } = await startPlans(t, { approvals: { rules } });
  const next = await follow(url, await tokenOf("reader", "ROLE_VIEWER"));
  const id = (await alice.call(removeLv, web)).metadata.plan ?? "";
  t.match(await adminSocket.approve(id), { reason: "APPROVAL_NOT_ALLOWED" }, "it is no user");
  const breakGlass = (reason: string) => adminSocket.call(`${plans}/BreakGlass`, { id, reason });
  for (const reason of ["", " ", "x".repeat(501)]) {
    t.match(await breakGlass(reason), {
      reason: "INVALID_FIELD",
      body: { message: /reason: must have 1 to 500/ },
    });
  }
  t.match(await alice.call(removeLv, web), { reason: "APPROVAL_REQUIRED" });
  t.match(await breakGlass("vg0 is full"), {
    status: 200,
    body: { plan: { approvals: [{ actor: "admin-socket", breakGlassReason: "vg0 is full" }] } },
  });
  t.equal((await alice.call(removeLv, web)).status, 200, "it stands for all missing approvals");
  t.match(await breakGlass("again"), { reason: "PLAN_USED" });
  t.match(await next(3), [
    { type: "plan.proposed" },
    { type: "plan.glassBroken", detail: { value: { approvedBy: "admin-socket", reason: "vg0 is full" } } },
    { type: "plan.applied" },
  ]);
  const audit = async (rpc: string) =>
    (await admin.call("hostplane.v1.AuditService/ListEvents", { rpc, outcome: "OK" })).body.events;
  t.match(await audit(`${plans}/BreakGlass`), [
    { actor: "admin-socket", resource: `plans/${id}`, request: /"reason":"vg0 is full"/ },
  ]);
  t.match(await audit(removeLv), [{ actor: "user/alice", planId: id, approvedBy: ["admin-socket"] }]);
  t.match(
    log.filter(({ level }) => Number(level) >= 40),
    [
      {
        msg: /the glass was broken for the plan .* of user\/alice, proto\.LVService\/RemoveLV.*"vg0 is full"/,
      },
    ],
  );
});

test("the callers of a listener without login are one program, which approves nothing", async (t) => {
  const services = ["proto.LVService", "hostplane.v1.PlanService"];
  const open = { address: "127.0.0.1:0", auth: "none", role: "operator", services };
  const { gateway, alice } = await startPlans(t, {
    listen: [{ address: "127.0.0.1:0" }, open],
    approvals: {
      rules: [
        { callers: ["program"], approvals: 1 },
        { callers: ["person"], methods: [removeLv], approvals: 1 },
      ],
    },
  });
  const call = async (method: string, request: object) => {
    const answer = await fetch(`http://${gateway.addresses[1]}/${method}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(request),
    });
    return (await answer.json()) as Json;
  };
  const idOf = ({ details }: Json) =>
    (details as readonly { readonly debug: { readonly metadata: { readonly plan: string } } }[])[0]?.debug
      .metadata.plan;
  const [first, second] = [await call(removeLv, web), await call(removeLv, web)];
  t.equal(idOf(first), idOf(second));
  t.match(await call(`${plans}/ApprovePlan`, { id: await alice.plan(removeLv, web) }), {
    code: "permission_denied",
    message: /only users can approve it/,
  });
  t.equal((await alice.approve(idOf(first) ?? "")).status, 200);
  t.same(await call(removeLv, web), {}, "the approved call of the program");
});
