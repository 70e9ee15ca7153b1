import fc from "fast-check";
import { test } from "tap";
import {
  type EventFilter,
  type EventRecord,
  matches,
  recordFromRow,
} from "../../../server/events/event-record.ts";

const record: EventRecord = {
  seq: 1,
  atMs: 0,
  topic: "volumes",
  type: "volume.created",
  resource: "volumeGroups/vg0/volumes/data",
  host: "h",
  operationId: "op-1",
  services: ["proto.LVService", "proto.VGService"],
  payload: null,
};
const all: EventFilter = { topics: [], resources: [], services: undefined };

test("an event matches if it meets every condition", async (t) => {
  const cases: readonly [Partial<EventFilter>, boolean][] = [
    [{}, true],
    [{ topics: ["operations", "volumes"] }, true],
    [{ topics: ["operations"] }, false],
    [{ resources: ["volumeGroups/vg0/volumes/data"] }, true],
    [{ resources: ["volumeGroups/vg1", "volumeGroups/vg0"] }, true],
    [{ resources: ["volumeGroups/vg"] }, false],
    [{ resources: ["volumeGroups/vg0/volumes/data/more"] }, false],
    [{ services: new Set(["proto.VGService"]) }, true],
    [{ services: new Set(["stats.StatsService"]) }, false],
    [{ services: new Set() }, false],
    [{ operationId: "op-1" }, true],
    [{ operationId: "op-2" }, false],
    [{ topics: ["volumes"], resources: ["volumeGroups/vg1"] }, false],
  ];
  for (const [filter, expected] of cases) {
    t.equal(matches(record, { ...all, ...filter }), expected, JSON.stringify(filter));
  }
  const ofNone = { ...record, services: [], operationId: undefined };
  t.equal(matches(ofNone, all), true);
  t.equal(matches(ofNone, { ...all, services: new Set(["proto.VGService"]) }), false);
  t.equal(matches(ofNone, { ...all, operationId: "op-1" }), false);
});

test("a gap is about everything below its resource", async (t) => {
  const gap = { ...record, type: "gap", resource: "volumeGroups" };
  const isAbout = (resource: string) => matches(gap, { ...all, resources: [resource] });
  t.equal(isAbout("volumeGroups/vg0/volumes/data"), true);
  t.equal(isAbout("volumeGroups"), true);
  t.equal(isAbout("volumeGroups2/vg0"), false);
  t.equal(isAbout("backups/a"), false);
  t.equal(matches(gap, { ...all, topics: ["operations"], resources: ["volumeGroups/vg0"] }), false);
});

test("a resource filter matches the resource and everything below it, and nothing else", async () => {
  const segment = fc.stringMatching(/^[\w.-]{1,3}$/);
  const path = fc.array(segment, { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(path, path, (desired, resource) => {
      const isBelow = desired.every((part, index) => resource[index] === part);
      const filter = { ...all, resources: [desired.join("/")] };
      return matches({ ...record, resource: resource.join("/") }, filter) === isBelow;
    }),
  );
});

test("events of a fleet's hosts only match filters that ask for hosts", async (t) => {
  const ofHost: EventRecord = { ...record, ofHost: { name: "node-1", atMs: 0 } };
  const cases: readonly [Partial<EventFilter>, own: boolean, ofHost: boolean][] = [
    [{}, true, false],
    [{ operationId: "op-1" }, true, false],
    [{ fleetHosts: "all" }, true, true],
    [{ fleetHosts: ["node-2", "node-1"] }, false, true],
    [{ fleetHosts: ["node-2"] }, false, false],
    [{ fleetHosts: "all", services: new Set(["proto.VGService"]) }, true, true],
    [{ fleetHosts: "all", services: new Set(["stats.StatsService"]) }, false, false],
  ];
  for (const [filter, own, host] of cases) {
    t.equal(matches(record, { ...all, ...filter }), own, JSON.stringify(filter));
    t.equal(matches(ofHost, { ...all, ...filter }), host, `${JSON.stringify(filter)} of a host`);
  }
});

test("a gap in the events of a host matches whatever else a filter asks for", async (t) => {
  const gap: EventRecord = {
    ...record,
    topic: "fleet",
    type: "gap",
    resource: "hosts/node-1",
    services: [],
    ofHost: { name: "node-1", atMs: 0 },
  };
  const narrow = { topics: ["volumes"], resources: ["volumeGroups/vg0"], services: new Set<string>() };
  t.equal(matches(gap, { ...narrow, fleetHosts: "all" }), true);
  t.equal(matches(gap, { ...narrow, fleetHosts: ["node-1"] }), true);
  t.equal(matches(gap, { ...narrow, fleetHosts: ["node-2"] }), false);
  t.equal(matches(gap, narrow), false);
});

test("only an event of a plan has a plan, which is empty without details", async (t) => {
  const row = {
    seq: 1,
    at: 0,
    topic: "plan",
    type: "plan.proposed",
    resource: "plans/1",
    host: "",
    operation_id: null,
    services: "[]",
    payload_json: JSON.stringify({ plan: { method: "a.B/C", resource: "things/a" }, planOwner: "alice" }),
    fleet_host: "",
    fleet_host_at: null,
  };
  t.same(recordFromRow(row).plan, { methodPath: "a.B/C", resource: "things/a", owner: "alice" });
  t.same(recordFromRow({ ...row, payload_json: "{}" }).plan, { methodPath: "", resource: "", owner: "" });
  t.equal(recordFromRow({ ...row, topic: "volumes" }).plan, undefined);
  t.equal(recordFromRow({ ...row, type: "gap" }).plan, undefined);
});
