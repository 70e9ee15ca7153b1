import { isDeepStrictEqual } from "node:util";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { test } from "tap";
import { FleetService } from "../../../../../gen/hostplane/v1/fleet_pb.ts";
import {
  InventoryService,
  type ListResourcesResponse,
  type Resource,
  type WatchResourcesResponse,
} from "../../../../../gen/hostplane/v1/inventory_pb.ts";
import { LVService } from "../../../../../gen/lvmd/served/lvmd_pb.ts";
import {
  joinFleet,
  type MemberUnderTest,
  memberDirectory,
  startHubUnderTest,
  startMemberUnderTest,
} from "../../../fleet/fleet-under-test.ts";
import { rpcErrorOf } from "../../../harness/rpc-error.ts";
import { until } from "../../../harness/until.ts";

/** A listener for everyone, of a caller who may see pods only. */
const podsOnly = {
  address: "127.0.0.1:0",
  auth: "none",
  role: "viewer",
  services: ["hostplane.v1.InventoryService", "hostplane.v1.PodService"],
};

const hostsOf = (resources: readonly Resource[]) =>
  [...new Set(resources.map(({ host }) => host))].toSorted();
const inventoryOf = (member: MemberUnderTest) => member.admin(InventoryService);

/** Resolves with the inventory once it has the current rows of a number of hosts. */
async function listOnce(hub: MemberUnderTest, currentHosts: number): Promise<ListResourcesResponse> {
  const list = () => inventoryOf(hub).listResources({ pageSize: 1000 });
  const isCurrent = async () =>
    (await list()).hosts.filter(({ reason, readTime }) => reason === "" && readTime !== undefined).length ===
    currentHosts;
  await until(isCurrent);
  return list();
}

test("a hub lists the resources of all hosts, and says how current they are", async (t) => {
  const hub = await startHubUnderTest(t, { listen: [podsOnly] });
  const [one, two] = await Promise.all([startMemberUnderTest(t, {}), startMemberUnderTest(t, {})]);
  await joinFleet(hub, one, "node-1", [{ name: "rack", value: "a" }]);
  await joinFleet(hub, two, "node-2", [{ name: "rack", value: "b" }]);
  const { resources, hosts } = await listOnce(hub, 2);
  t.same(hostsOf(resources), ["", "node-1", "node-2"]);
  t.match(hosts, [
    { host: "node-1", connected: true, reason: "", message: "" },
    { host: "node-2", connected: true, reason: "", message: "" },
  ]);
  const healthOf = (rows: readonly Resource[]) => rows.map(({ name, health }) => [name, health]);
  // The sandbox's world may change between the two lists.
  await until(async () => {
    const own = await inventoryOf(one).listResources({ pageSize: 1000 });
    const merged = (await listOnce(hub, 2)).resources.filter(({ host }) => host === "node-1");
    return isDeepStrictEqual(healthOf(merged), healthOf(own.resources));
  });

  const list = (request: Parameters<ReturnType<typeof inventoryOf>["listResources"]>[0]) =>
    inventoryOf(hub).listResources(request);
  for (const filter of [{ hosts: ["node-2"] }, { hostLabels: { rack: "b" } }, { search: "node-2" }]) {
    t.same(hostsOf((await list({ filter, pageSize: 1000 })).resources), ["node-2"], JSON.stringify(filter));
  }
  t.same(
    (await list({ filter: { hosts: ["node-2"] } })).hosts.map(({ host }) => host),
    ["node-2"],
  );
  const ofHub = await list({ filter: { hosts: [""] } });
  t.same([hostsOf(ofHub.resources), ofHub.hosts], [[""], []], "the hub's own");
  t.same((await list({ filter: { hostLabels: { rack: "c" } } })).resources, []);
  t.match(await rpcErrorOf(list({ filter: { hosts: ["node-3"] } })), {
    code: "NOT_FOUND",
    reason: "HOST_UNKNOWN",
    message: /node-1, node-2/,
  });
  t.match(await rpcErrorOf(inventoryOf(one).listResources({ filter: { hosts: ["node-1"] } })), {
    code: "INVALID_ARGUMENT",
    fields: ["filter.hosts"],
    message: /is not a hub/,
  });
  const last = await list({ orderBy: "host desc", pageSize: 1 });
  t.match(last.resources, [{ host: "node-2" }]);

  const paged: string[] = [];
  let pageToken = "";
  do {
    const page = await list({ filter: { types: ["volume"] }, pageSize: 1, pageToken });
    paged.push(...page.resources.map(({ host, name }) => `${host} ${name}`));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  const volumes = resources.filter(({ type }) => type === "volume");
  t.equal(paged.length, volumes.length);
  t.equal(new Set(paged).size, volumes.length, "resources of one name on two hosts are on different pages");

  const visitor = createClient(
    InventoryService,
    createConnectTransport({ baseUrl: hub.url, httpVersion: "1.1" }),
  );
  const seen = await visitor.listResources({ pageSize: 1000 });
  t.same([...new Set(seen.resources.map(({ type }) => type))].toSorted(), ["image", "pod"]);

  await two.gateway.close();
  await until(async () => (await list({})).hosts[1]?.connected === false);
  const lost = await list({ pageSize: 1000 });
  t.match(lost.hosts[1], { host: "node-2", reason: "HOST_UNREACHABLE", message: /not connected/ });
  t.ok(lost.hosts[1]?.readTime !== undefined, "the age of its rows");
  t.same(lost.hosts[1]?.readTime, (await list({})).hosts[1]?.readTime, "which no longer changes");
  t.equal(lost.resources.length, resources.length, "its last known rows stay");

  await hub.admin(FleetService).removeHost({ name: "node-2" });
  t.same(hostsOf((await list({ pageSize: 1000 })).resources), ["", "node-1"]);
});

test("a watch on a hub follows the hosts that its filter selects", async (t) => {
  const hub = await startHubUnderTest(t);
  const agent = await startMemberUnderTest(t, {});
  await joinFleet(hub, agent, "node-1");
  await listOnce(hub, 1);
  const leaving = new AbortController();
  const stream = inventoryOf(hub).watchResources(
    { filter: { types: ["volume"] } },
    { signal: leaving.signal },
  );
  const messages = stream[Symbol.asyncIterator]();
  const next = async () => (await messages.next()).value as WatchResourcesResponse;

  const first = await next();
  t.match(first, { synced: true, hosts: [{ host: "node-1", connected: true }] });
  t.same(hostsOf(first.changed), ["node-1"]);
  await agent.admin(LVService).createLV({ name: "new", sizeGb: 1n });
  t.match(await next(), { changed: [{ title: "new", host: "node-1" }], removed: [], hosts: [] });
  await agent.admin(LVService).removeLV({ name: "new" });
  const gone = await next();
  t.match(gone, { changed: [], removed: [], removedOnHosts: [{ host: "node-1", name: /new$/ }] });

  await hub.admin(FleetService).removeHost({ name: "node-1" });
  let last = await next();
  while (last.removedHosts.length === 0) {
    last = await next();
  }
  t.match(last.removedHosts, ["node-1"]);
  t.equal(last.removedOnHosts.length, first.changed.length);
  leaving.abort();
});

test("a hub that is started again has the last resources of a silent host, with their age", async (t) => {
  const data = await memberDirectory(t);
  const hub = await startHubUnderTest(t, { data });
  const [silent, live] = await Promise.all([startMemberUnderTest(t, {}), startMemberUnderTest(t, {})]);
  await joinFleet(hub, silent, "node-1");
  await joinFleet(hub, live, "node-2");
  const before = await listOnce(hub, 2);
  await silent.gateway.close();
  await until(async () => (await inventoryOf(hub).listResources({})).hosts[0]?.connected === false);
  const lost = await inventoryOf(hub).listResources({});
  await live.gateway.close();
  await hub.gateway.close();

  const again = await startHubUnderTest(t, { data });
  const listed = () => inventoryOf(again).listResources({ pageSize: 1000 });
  await until(async () => (await listed()).hosts.every(({ readTime }) => readTime !== undefined));
  const { resources, hosts } = await listed();
  t.match(hosts, [
    { host: "node-1", connected: false, reason: "HOST_UNREACHABLE" },
    { host: "node-2", connected: false, reason: "HOST_UNREACHABLE" },
  ]);
  t.same(hosts[0]?.readTime, lost.hosts[0]?.readTime, "since when it is silent");
  const ofHosts = (all: readonly Resource[]) => all.filter(({ host }) => host !== "");
  t.same(ofHosts(resources), ofHosts(before.resources));
});
