import { test } from "tap";
import { createVisibilityOf } from "../../../server/domain/visibility.ts";
import { domains } from "../../../server/domains/domains.ts";
import { type EventRecord, gapType, matches } from "../../../server/events/event-record.ts";
import type { Grant } from "../../../server/rpc/access/grant.ts";
import { createGrants } from "../../../server/rpc/access/grants.ts";
import type { Call } from "../../../server/rpc/call/call.ts";
import { anonymous, type Caller } from "../../../server/rpc/call/caller.ts";
import { createCall } from "../rpc/call/call-under-test.ts";

const topics = domains.flatMap(({ name, hasEvents, services }) =>
  hasEvents === true ? [{ topic: name, service: services[0]?.service.typeName ?? "" }] : [],
);

function callBy(grants: readonly Grant[], services?: readonly string[], parts: Partial<Caller> = {}): Call {
  const caller: Caller = {
    ...anonymous,
    ...parts,
    role: "viewer",
    grants: createGrants(grants, "here"),
    current: () => caller,
  };
  const call = createCall(services === undefined ? {} : { peer: { services: new Set(services) } });
  call.identify(caller);
  return call;
}

const eventOf = (topic: string, service: string, parts: Partial<EventRecord> = {}): EventRecord => ({
  seq: 1,
  atMs: 0,
  topic,
  type: "changed",
  resource: "things/a/parts/1",
  host: "",
  operationId: undefined,
  services: [service],
  payload: {},
  ...parts,
});

const visibilityOf = createVisibilityOf({ hub: undefined });
const isShown = (call: Call, record: EventRecord) =>
  matches(record, { topics: [], resources: [], fleetHosts: "all", ...visibilityOf(call) });

test("in every topic, only events of granted resources are shown", async (t) => {
  t.ok(topics.length > 5);
  for (const { topic, service } of topics) {
    const shows = (grant: Grant, parts: Partial<EventRecord> = {}) =>
      isShown(callBy([grant]), eventOf(topic, service, parts));
    t.ok(shows({ role: "viewer", resources: ["things/a"] }), topic);
    t.ok(shows({ role: "viewer", services: [service], resources: ["things/*/parts/1"] }), topic);
    t.notOk(shows({ role: "viewer", resources: ["things/b"] }), topic);
    t.notOk(shows({ role: "viewer", services: ["another.Service"], resources: ["things/a"] }), topic);
    t.notOk(shows({ role: "viewer", resources: ["things/a/parts/1"] }, { resource: "things/a" }), topic);
    t.ok(
      shows({ role: "viewer", resources: ["things/a/parts/1"] }, { resource: "things/a", type: gapType }),
      `${topic}: a gap above`,
    );
    t.notOk(
      shows({ role: "viewer", resources: ["things/a/parts/1"] }, { resource: "things/b", type: gapType }),
      `${topic}: a gap elsewhere`,
    );
  }
});

test("events of hosts that no grant covers are not shown, nor their gaps", async (t) => {
  const call = callBy([{ role: "viewer", hosts: ["web-*"] }]);
  const ofHost = (name: string) => ({ ofHost: { name, atMs: 0 } });
  t.ok(isShown(call, eventOf("volumes", "a.B", ofHost("web-1"))));
  t.notOk(isShown(call, eventOf("volumes", "a.B", ofHost("db-1"))));
  t.notOk(isShown(call, eventOf("volumes", "a.B")), "this gateway is another host");
  const gap = { type: gapType, resource: "hosts" };
  t.ok(isShown(call, eventOf("fleet", "", { ...gap, ...ofHost("web-1") })));
  t.notOk(isShown(call, eventOf("fleet", "", { ...gap, ...ofHost("db-1") })));
});

test("an event of a plan is shown to those who may make its call, and to none with bounds if it lacks the call", async (t) => {
  const removal = { methodPath: "a.B/Remove", resource: "things/a", owner: "alice" };
  const ofPlan = (parts: Partial<EventRecord> = {}) =>
    eventOf("plan", "a.B", { type: "plan.proposed", resource: "plans/1", plan: removal, ...parts });
  const visible = createVisibilityOf({ hub: undefined }, (path) =>
    path === removal.methodPath ? { role: "operator", fleetWide: false } : undefined,
  );
  const shows = (grant: Grant, record = ofPlan(), services?: readonly string[]) =>
    matches(record, {
      topics: [],
      resources: [],
      fleetHosts: "all",
      ...visible(callBy([grant, { role: "viewer", resources: ["nothing"] }], services)),
    });
  t.ok(shows({ role: "operator", resources: ["things/a"] }));
  t.ok(shows({ role: "operator", methods: [removal.methodPath] }));
  t.notOk(shows({ role: "operator", resources: ["things/b"] }));
  t.notOk(shows({ role: "viewer", resources: ["things/a"] }), "the role");
  t.notOk(shows({ role: "operator", methods: ["a.B/Resize"] }), "another method of the service");
  t.notOk(shows({ role: "operator" }, ofPlan(), ["c.D"]), "the listener");
  const unknown = { methodPath: "", resource: "", owner: "" };
  t.notOk(shows({ role: "operator" }, ofPlan({ plan: unknown })), "a host of the fleet sent no details");
  const ofHost = ofPlan({ ofHost: { name: "web-1", atMs: 0 } });
  t.ok(shows({ role: "operator", hosts: ["web-*"] }, ofHost));
  t.notOk(shows({ role: "operator", hosts: ["db-*"] }, ofHost));
  t.notOk(shows({ role: "operator", hosts: ["web-*"] }), "this gateway is another host");
});

test("a caller with bounds sees its own plans that a grant covers, and those that it may approve", async (t) => {
  const visible = createVisibilityOf({ hub: undefined }, (path) =>
    path.startsWith("a.B/") ? { role: "operator", fleetWide: path === "a.B/FleetWide" } : undefined,
  );
  const removal = { methodPath: "a.B/Remove", resource: "things/a", owner: "alice", needsApproval: true };
  const shows = (
    by: Partial<Caller>,
    grant: Grant,
    plan: Partial<typeof removal & { host: string }> = {},
  ) => {
    const call = callBy([grant, { role: "viewer", resources: ["nothing"] }], undefined, by);
    return visible(call).bounds?.showsPlan({ ...removal, ...plan });
  };
  const [alice, bob] = [{ accountId: "alice" }, { accountId: "bob" }];
  const reader: Grant = { role: "viewer", resources: ["things/a"] };
  const operator: Grant = { role: "operator", resources: ["things/a"] };
  t.ok(shows(alice, reader), "its own");
  t.ok(shows(alice, reader, { needsApproval: false }), "its own that needs no approval");
  t.notOk(shows(alice, { role: "viewer", resources: ["things/b"] }), "its own that no grant covers any more");
  t.notOk(shows(bob, reader), "of another");
  t.ok(shows(bob, operator), "one that it may approve");
  t.notOk(shows(bob, operator, { needsApproval: false }), "of another, without approvals");
  const onHosts = { ...reader, hosts: ["web-*"] };
  t.ok(shows(alice, onHosts, { host: "web-1", owner: "fleet/alice" }), "its own on a host of the fleet");
  t.notOk(shows(alice, onHosts, { host: "web-1" }), "an account of the host itself with the same id");
  const fleetWide = { methodPath: "a.B/FleetWide" };
  t.ok(shows(bob, operator, fleetWide));
  t.notOk(shows({ ...bob, credential: "hub" }, operator, fleetWide), "of a host, through a hub");
  t.notOk(shows(bob, { ...operator, hosts: ["web-*"] }, { ...fleetWide, host: "web-1" }), "of a host");
  const ceiling = {
    assertMethod() {
      throw new Error("reserved");
    },
    assertResource() {},
  };
  t.notOk(shows({ ...bob, credential: "hub", ceiling }, operator), "a method that the host reserves");
});

test("the services of the listener count, too", async (t) => {
  const grants: readonly Grant[] = [{ role: "viewer", resources: ["things"] }];
  const shown = eventOf("volumes", "a.B");
  t.ok(isShown(callBy(grants, ["a.B"]), shown));
  t.notOk(isShown(callBy(grants, ["c.D"]), shown));
});

test("what a caller may see is the same object until its grants change", async (t) => {
  const call = callBy([{ role: "viewer", resources: ["things"] }]);
  t.equal(visibilityOf(call).bounds, visibilityOf(call).bounds);
  t.equal(visibilityOf(callBy([{ role: "viewer" }])).bounds, undefined, "no bounds");
});
