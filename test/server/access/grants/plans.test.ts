import { createClient } from "@connectrpc/connect";
import { type Test, test } from "tap";
import { EventService } from "../../../../gen/hostplane/v1/event_pb.ts";
import {
  joinFleet,
  startHubUnderTest,
  startMemberUnderTest,
  untilHosts,
} from "../../fleet/fleet-under-test.ts";
import { startGatewayUnderTest } from "../../harness/gateway-under-test.ts";
import { until } from "../../harness/until.ts";
import { type Answer, type GrantedCaller, grantsOf } from "./grants-under-test.ts";

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

/** Subscribes to the events of plans, from a cursor or from now on. @returns the cursor of the start, and the next events */
async function follow(t: Test, caller: GrantedCaller, cursor?: string) {
  const leaving = new AbortController();
  t.teardown(() => leaving.abort());
  const start = cursor === undefined ? {} : { start: { case: "cursor" as const, value: cursor } };
  const messages = createClient(EventService, caller.transport())
    .subscribe({ topics: ["plan"], ...start }, { signal: leaving.signal })
    [Symbol.asyncIterator]();
  const first = await messages.next();
  async function next(count: number): Promise<readonly string[]> {
    const events: string[] = [];
    while (events.length < count) {
      const { message } = (await messages.next()).value ?? {};
      if (message?.case === "event") {
        const { type, detail } = message.value;
        events.push(`${type} ${detail.case === "plan" ? detail.value.resource.replace(/.*\//, "") : ""}`);
      }
    }
    return events;
  }
  return { cursor: first.value?.message.value?.cursor, next };
}

test("a caller with bounds gets the events of the plans that it may approve, and of no others", async (t) => {
  const { admin, userWith } = await startApprovals(t);
  const names = ["db-1", "web-1", "web-2"];
  for (const name of names) {
    await admin.call("proto.LVService/CreateLV", { name, sizeGb: "1" });
  }
  const removal = "proto.LVService/RemoveLV";
  const callers = {
    web: await userWith("web", [operatorOf("web-*")]),
    second: await userWith("second", [{ ...operatorOf("web-2"), methods: [removal] }]),
    otherMethod: await userWith("resizer", [
      { role: "ROLE_OPERATOR", methods: ["proto.LVService/ResizeLV"] },
      operatorOf("web-2"),
    ]),
    viewer: await userWith("viewer", [{ ...operatorOf("*"), role: "ROLE_VIEWER" }, operatorOf("web-2")]),
  };
  const followed = {
    web: await follow(t, callers.web),
    second: await follow(t, callers.second),
    otherMethod: await follow(t, callers.otherMethod),
    viewer: await follow(t, callers.viewer),
  };
  for (const name of names) {
    await admin.call(removal, { name });
  }
  const { body } = await callers.second.call("hostplane.v1.PlanService/ListPlans");
  const [{ id }] = body.plans as [{ id: string }];
  t.equal((await callers.second.call("hostplane.v1.PlanService/ApprovePlan", { id })).status, 200);
  const ofSecond = ["plan.proposed web-2", "plan.approved web-2"];
  const expected = {
    web: ["plan.proposed web-1", ...ofSecond],
    second: ofSecond,
    otherMethod: ofSecond,
    viewer: ofSecond,
  };
  for (const [name, events] of Object.entries(expected) as [keyof typeof expected, string[]][]) {
    t.same(await followed[name].next(events.length), events, name);
    const past = await follow(t, callers[name], followed[name].cursor);
    t.same(await past.next(events.length), events, `${name}: past events`);
  }
});

test("a caller that may only read by now gets the events of its own plans, as lists show them", async (t) => {
  const { admin, userWith } = await startApprovals(t);
  for (const name of ["web-1", "web-2"]) {
    await admin.call("proto.LVService/CreateLV", { name, sizeGb: "1" });
  }
  const removal = "proto.LVService/RemoveLV";
  const alice = await userWith("alice", [operatorOf("web-*")]);
  const before = await follow(t, alice);
  const id = planOf(await alice.call(removal, { name: "web-1" }));
  t.same(await before.next(1), ["plan.proposed web-1"]);
  const grants = [{ ...operatorOf("web-*"), role: "ROLE_VIEWER" }];
  t.equal(
    (await admin.call("hostplane.v1.UserService/UpdateUser", { name: "alice", grants: { grants } })).status,
    200,
  );
  const live = await follow(t, alice);
  await admin.call(removal, { name: "web-2" });
  await admin.call("hostplane.v1.PlanService/DeletePlan", {
    id: planOf(await admin.call(removal, { name: "web-1" })),
  });
  t.equal((await admin.call("hostplane.v1.PlanService/ApprovePlan", { id })).status, 200);
  const { body } = await alice.call("hostplane.v1.PlanService/ListPlans");
  t.match(body.plans, [{ id }]);
  t.equal((body.plans as unknown[]).length, 1);
  t.same(await live.next(1), ["plan.approved web-1"]);
  const resumed = await follow(t, alice, before.cursor);
  t.same(await resumed.next(2), ["plan.proposed web-1", "plan.approved web-1"]);
});

test("a hub shows a caller the events of its own plans on a host, as lists of the host show them", async (t) => {
  const hub = await startHubUnderTest(t);
  const approvals = { rules: [{ destroysData: true, approvals: 1, withinMinutes: 60 }] };
  await joinFleet(hub, await startMemberUnderTest(t, { approvals }), "node-1");
  await untilHosts(hub, (hosts) => hosts.every(({ report }) => report !== undefined));
  const { admin, userWith } = await grantsOf(t, hub.url);
  const operator = { ...operatorOf("sandbox-*"), hosts: ["node-1"] };
  const viewer = { ...operator, role: "ROLE_VIEWER" };
  const [alice, bob] = [await userWith("alice", [operator]), await userWith("bob", [operator])];
  const [start, merged] = [await follow(t, alice), await follow(t, bob)];
  const onHost = (method: string) => `hosts/node-1/${method}`;
  // The hub gets the events of a host from the moment at which it begins to follow them.
  let isFollowed = false;
  void merged.next(1).then(() => {
    isFollowed = true;
  });
  await until(async () => {
    const plan = { method: "proto.LVService/RemoveLV", json: { name: "sandbox-web" } };
    await bob.call(onHost("hostplane.v1.PlanService/CreatePlan"), plan);
    return isFollowed;
  });
  const removed = await alice.call(onHost("proto.LVService/RemoveLV"), { name: "sandbox-web" });
  t.equal(removed.reason, "APPROVAL_REQUIRED");
  await admin.call("hostplane.v1.UserService/UpdateUser", { name: "alice", grants: { grants: [viewer] } });
  const { body } = await alice.call(onHost("hostplane.v1.PlanService/ListPlans"));
  const plans = body.plans as readonly { readonly actor: string }[];
  t.match(
    plans.map(({ actor }) => actor.replace(/ via .*/, "")),
    ["user/alice"],
  );
  const resumed = await follow(t, alice, start.cursor);
  t.same(await resumed.next(1), ["plan.proposed sandbox-web"]);
});
