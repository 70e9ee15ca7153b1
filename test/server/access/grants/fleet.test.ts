import type { JsonObject } from "@bufbuild/protobuf";
import { test } from "tap";
import {
  joinFleet,
  startHubUnderTest,
  startMemberUnderTest,
  untilHosts,
} from "../../fleet/fleet-under-test.ts";
import { until } from "../../harness/until.ts";
import { type GrantedCaller, grantsOf } from "./grants-under-test.ts";

const resources = ["volumeGroups/sandbox-vg/volumes/db-*"];

test("the hub decides the host of a call, and the host its resources", async (t) => {
  const hub = await startHubUnderTest(t);
  const agents = await Promise.all([startMemberUnderTest(t, {}), startMemberUnderTest(t, {})]);
  await joinFleet(hub, agents[0], "node-1", [{ name: "rack", value: "a" }]);
  await joinFleet(hub, agents[1], "node-2", [{ name: "rack", value: "b" }]);
  await untilHosts(hub, (hosts) => hosts.every(({ report }) => report !== undefined));
  const { admin, userWith } = await grantsOf(t, hub.url);
  const create = (host: string, name: string) =>
    [`hosts/${host}/proto.LVService/CreateLV`, { name, sizeGb: "1" }] as const;
  t.equal((await admin.call(...create("node-1", "web-1"))).status, 200);
  t.equal((await admin.call(...create("node-2", "db-2"))).status, 200);

  const named = await userWith("by-name", [{ role: "ROLE_OPERATOR", hosts: ["node-1"], resources }]);
  const labels = [{ name: "rack", value: "a" }];
  const labelled = await userWith("by-label", [{ role: "ROLE_OPERATOR", hostLabels: labels, resources }]);
  for (const [index, caller] of [named, labelled].entries()) {
    t.equal((await caller.call(...create("node-1", `db-${index}`))).status, 200);
    t.match(await caller.call(...create("node-1", "web-2")), { reason: "NOT_GRANTED" });
    const elsewhere = await caller.call(...create("node-2", "db-3"));
    const nowhere = await caller.call(...create("node-3", "db-3"));
    t.match(elsewhere, { reason: "HOST_UNKNOWN" });
    const message = String(elsewhere.body.message).replaceAll("node-2", "node-3");
    t.equal(message, nowhere.body.message, "as a host that does not exist");
    t.match(
      await caller.call("proto.LVService/RemoveLV", { name: `db-${index}` }),
      { status: 200 },
      "the only host that it may reach",
    );
  }
  t.equal((await named.call(...create("node-1", "db-1"))).status, 200);

  const calls: readonly (readonly [string, JsonObject])[] = [
    ["hostplane.v1.FleetService/ListHosts", {}],
    ["hostplane.v1.FleetService/ListHosts", { labels: { rack: "b" } }],
    ["hostplane.v1.InventoryService/ListResources", {}],
    ["hostplane.v1.OperationService/ListOperations", {}],
    ["hostplane.v1.InventoryService/ListResources", { filter: { hosts: ["absent"] } }],
    ["hostplane.v1.OperationService/ListOperations", { hosts: ["absent"] }],
    ["hosts/absent/proto.VGService/GetLVList", {}],
  ];
  for (const [method, request] of calls) {
    const { text } = await named.call(method, request);
    t.notMatch(text, /node-2|web-1|sandbox-web/, method);
  }
  t.match((await named.call("hostplane.v1.FleetService/ListHosts")).body.hosts, [{ name: "node-1" }]);
  const figuresOf = async (one: GrantedCaller) => {
    const { text } = await one.call("hostplane.v1.FleetService/ListHosts", { labels: { rack: "a" } });
    return /"figures":\[\{"resource":"volumeGroups\/sandbox-vg"/.test(text);
  };
  await until(() => figuresOf(admin));
  t.equal(await figuresOf(named), false, "figures of a volume group of which it may see some volumes");
  const group = { role: "ROLE_VIEWER", hosts: ["node-1"], resources: ["volumeGroups/sandbox-vg"] };
  t.equal(await figuresOf(await userWith("by-group", [group])), true, "and of one that it may see");
  await until(async () => {
    const { body } = await named.call("hostplane.v1.InventoryService/ListResources");
    return /db-1/.test(JSON.stringify(body.resources));
  });
});

test("an agent takes no grants beyond its ceiling", async (t) => {
  const hub = await startHubUnderTest(t);
  const ceiling = { role: "viewer", services: ["proto.VGService", "proto.LVService"] };
  const agent = await startMemberUnderTest(t, { fleet: { agent: { ceiling } } });
  await joinFleet(hub, agent, "node-1");
  // Its ceiling lets the hub read no report of it.
  await untilHosts(hub, (hosts) => hosts.every(({ connected }) => connected));
  const { userWith } = await grantsOf(t, hub.url);
  const caller = await userWith("operator", [{ role: "ROLE_OPERATOR", resources }]);
  t.match(await caller.call("hosts/node-1/proto.LVService/RemoveLV", { name: "db-1" }), {
    reason: "ROLE_REQUIRED",
  });
  t.equal((await caller.call("hosts/node-1/proto.VGService/GetLVList")).status, 200);
  t.match(await caller.call("hosts/node-1/hostplane.v1.VolumeService/ListVolumes"), { status: 403 });
});

test("a stream of a host ends when what its caller may do changes", async (t) => {
  const hub = await startHubUnderTest(t);
  await joinFleet(hub, await startMemberUnderTest(t, {}), "node-1");
  await untilHosts(hub, (hosts) => hosts.every(({ report }) => report !== undefined));
  const { admin, userWith } = await grantsOf(t, hub.url);
  const caller = await userWith("database", [{ role: "ROLE_VIEWER", resources }]);
  const leaving = new AbortController();
  t.teardown(() => leaving.abort());
  const answer = await fetch(`${hub.url}/hosts/node-1/proto.VGService/Watch`, {
    method: "POST",
    headers: { "content-type": "application/connect+json", authorization: `Bearer ${caller.token}` },
    body: Buffer.from("\0\0\0\0\x02{}", "latin1"),
    signal: leaving.signal,
  });
  t.equal(answer.status, 200);
  const { status, text } = await admin.call("hostplane.v1.UserService/UpdateUser", {
    name: "database",
    grants: { grants: [{ role: "ROLE_VIEWER", resources: ["volumeGroups/sandbox-vg/volumes/web-*"] }] },
  });
  t.equal(status, 200, text);
  t.match(await answer.text(), /ACCESS_CHANGED/);
});
