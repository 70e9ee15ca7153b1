import type { Test } from "tap";
import type { StoreOptions } from "../../../../server/store/open-store.ts";
import {
  appendEach,
  newEvent,
  openStoreWithEvents,
  type StoreWithEvents,
} from "../../events/store-with-events.ts";
import { addHost } from "./add-host.ts";

const leaseMs = 60_000;
const owner = "hub-1";

async function typesOf(store: StoreWithEvents): Promise<string[]> {
  const { rows } = await store.run("events.read", { afterSeq: 0, limit: 1000 });
  return rows.map(({ type, resource }) => `${type} ${resource}`);
}

/** Tests what every store guarantees for the hosts that hubs follow. */
export function testFollowedHostContract(
  t: Test,
  makeOptions: (t: Test) => Promise<Partial<StoreOptions>>,
): void {
  const open = async (t: Test) => openStoreWithEvents(t, await makeOptions(t));

  t.test("events are appended once, together with the cursor after them", async (t) => {
    const store = await open(t);
    const host = await addHost(store, "node-1");
    t.same(await store.run("fleet.claimHost", { host, owner, leaseMs }), {
      cursor: "",
      mergedAtMs: undefined,
    });
    const ofHost = { name: "node-1", atMs: 1000 };
    const merge = (before: string, cursor: string, ...ids: number[]) =>
      store.run("fleet.mergeEvents", {
        hostId: host.id,
        owner,
        before,
        cursor,
        events: ids.map((id) => newEvent(id, { ofHost, operationId: "op-1" })),
      });
    t.equal(await merge("", "a", 1, 2), true);
    t.equal(await merge("", "a", 1, 2), false, "a repeated batch");
    t.equal(await merge("a", "b"), true, "a cursor without events");
    t.equal(await merge("b", "c", 3), true);
    t.match(await store.run("fleet.claimHost", { host, owner, leaseMs }), {
      cursor: "c",
      mergedAtMs: Number,
    });
    const { rows } = await store.run("events.read", { afterSeq: 1, limit: 10 });
    t.match(
      rows.map(({ payload_json, fleet_host, fleet_host_at }) => [payload_json, fleet_host, fleet_host_at]),
      [1, 2, 3].map((id) => [`{"id":${id}}`, "node-1", 1000]),
    );
    await appendEach(store, [4], { operationId: "op-1" });
    const ofOperation = await store.run("events.read", { afterSeq: 0, limit: 10, operationId: "op-1" });
    t.same(
      ofOperation.rows.map(({ payload_json }) => payload_json),
      ['{"id":4}'],
      "an operation of this gateway has no events of hosts",
    );
  });

  t.test("one hub follows a host at a time", async (t) => {
    const store = await open(t);
    const host = await addHost(store, "node-1");
    const claim = (owner: string) => store.run("fleet.claimHost", { host, owner, leaseMs });
    const claims = await Promise.all(["hub-1", "hub-2", "hub-3"].map(claim));
    t.equal(claims.filter((claimed) => claimed !== undefined).length, 1, "of three at the same time");
    const index = claims.findIndex((claimed) => claimed !== undefined);
    const [first, second] = [`hub-${index + 1}`, `hub-${((index + 1) % 3) + 1}`];
    const append = (owner: string, before: string, cursor: string) =>
      store.run("fleet.mergeEvents", { hostId: host.id, owner, before, cursor, events: [newEvent(cursor)] });
    t.equal(await append(second, "", "a"), false, "by another hub");
    t.equal(await append(first, "", "a"), true);
    await store.run("fleet.releaseHost", { hostId: host.id, owner: second });
    t.equal(await claim(second), undefined, "only the hub that follows a host releases it");
    await store.run("fleet.releaseHost", { hostId: host.id, owner: first });
    t.match(await claim(second), { cursor: "a" }, "continues where the first one stopped");
    t.equal(await append(first, "a", "b"), false);
    t.equal(await append(second, "a", "b"), true);
    await store.run("fleet.tendHosts", { owner: second, hostIds: [host.id], leaseMs: -1, graceMs: leaseMs });
    t.match(await claim(first), { cursor: "b" }, "after the lease has expired");
  });

  t.test("a host that no hub follows is lost once, and then back", async (t) => {
    const store = await open(t);
    const [one, two] = [await addHost(store, "node-1"), await addHost(store, "node-2")];
    const tend = (owner: string, hostIds: string[], graceMs = -1) =>
      store.run("fleet.tendHosts", { owner, hostIds, leaseMs, graceMs });
    await tend("hub-1", []);
    t.same(await typesOf(store), ["host.joined hosts/node-1", "host.joined hosts/node-2"], "never connected");
    await store.run("fleet.claimHost", { host: one, owner: "hub-1", leaseMs });
    await store.run("fleet.claimHost", { host: two, owner: "hub-2", leaseMs });
    await tend("hub-1", [one.id]);
    await store.run("fleet.releaseHost", { hostId: one.id, owner: "hub-1" });
    await tend("hub-2", [two.id], leaseMs);
    t.equal((await typesOf(store)).length, 2, "within the grace period");
    await tend("hub-2", [two.id]);
    await tend("hub-1", []);
    t.same((await typesOf(store)).slice(2), ["host.lost hosts/node-1"]);
    await store.run("fleet.claimHost", { host: one, owner: "hub-2", leaseMs });
    t.same((await typesOf(store)).slice(3), ["host.back hosts/node-1"]);
    await store.run("fleet.tendHosts", { owner: "hub-2", hostIds: [two.id], leaseMs: -1, graceMs: leaseMs });
    await tend("hub-1", []);
    await tend("hub-2", [two.id]);
    t.same(
      (await typesOf(store)).slice(4),
      ["host.lost hosts/node-2", "host.back hosts/node-2"],
      "a hub that was late",
    );
  });

  t.test("a removed host cannot be followed", async (t) => {
    const store = await open(t);
    const host = await addHost(store, "node-1");
    await store.run("fleet.claimHost", { host, owner, leaseMs });
    await store.run("fleet.removeHost", { name: "node-1", dryRun: true });
    const append = () =>
      store.run("fleet.mergeEvents", {
        hostId: host.id,
        owner,
        before: "",
        cursor: "a",
        events: [],
      });
    t.equal(await append(), true, "a dry run removes nothing");
    await store.run("fleet.removeHost", { name: "node-1" });
    t.equal(await append(), false);
    t.equal(await store.run("fleet.claimHost", { host, owner, leaseMs }), undefined);
    const successor = await addHost(store, "node-1");
    t.match(await store.run("fleet.claimHost", { host: successor, owner, leaseMs }), { cursor: "" });
    t.equal(await store.run("fleet.claimHost", { host, owner, leaseMs }), undefined);
    t.same(await typesOf(store), [
      "host.joined hosts/node-1",
      "host.removed hosts/node-1",
      "host.joined hosts/node-1",
    ]);
  });
}
