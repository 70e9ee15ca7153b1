import { test } from "tap";
import {
  type CallHostsResponse,
  FleetService,
  MembershipService,
} from "../../../gen/hostplane/v1/fleet_pb.ts";
import { formatJoinToken, parseJoinToken } from "../../../server/fleet/join-token.ts";
import { freePort } from "../harness/free-port.ts";
import { rpcErrorOf } from "../harness/rpc-error.ts";
import { until } from "../harness/until.ts";
import { joinFleet, startHubUnderTest, startMemberUnderTest, untilHosts } from "./fleet-under-test.ts";
import { openLosingProxy } from "./losing-proxy.ts";

const rackA = { name: "rack", value: "a" };

test("a host joins with a token, reports its systems, and leaves", async (t) => {
  const hub = await startHubUnderTest(t);
  const agent = await startMemberUnderTest(t, { host: "node-1.example.org" });
  const { token } = await hub.admin(FleetService).createHostToken({ labels: [rackA] });
  const { membership } = await agent.admin(MembershipService).joinFleet({ token });
  t.equal(membership?.name, "node-1", "the first label of its host name");
  t.same(
    membership?.hubs.map(({ connected }) => connected),
    [true],
  );
  await untilHosts(hub, ([host]) => host?.report !== undefined);
  const { hosts } = await hub.admin(FleetService).listHosts({ labels: { rack: "a" } });
  t.match(hosts, [{ name: "node-1", connected: true, labels: { rack: "a" } }]);
  t.equal(hosts[0]?.report?.version, "0.0.0-test");
  t.ok(hosts[0]?.report?.backends.some(({ name }) => name === "lvm"));
  t.ok((hosts[0]?.report?.figures[0]?.totalBytes ?? 0n) > 0n, "free space of a volume group");
  t.same((await hub.admin(FleetService).listHosts({ labels: { rack: "b" } })).hosts, []);

  await agent.admin(MembershipService).leaveFleet({});
  t.same((await agent.admin(MembershipService).getMembership({})).membership, undefined);
  await untilHosts(hub, ([host]) => host?.connected === false);
});

test("a token is good for one host, for a time, and only at its own fleet", async (t) => {
  const hub = await startHubUnderTest(t);
  const other = await startHubUnderTest(t);
  const agent = await startMemberUnderTest(t, {});
  const join = (token: string, name = "node-1") =>
    rpcErrorOf(agent.admin(MembershipService).joinFleet({ token, name }));
  const { token } = await hub.admin(FleetService).createHostToken({});
  const parsed = parseJoinToken(token);

  t.match(await join("not a token"), { code: "INVALID_ARGUMENT", reason: "INVALID_FIELD" });
  t.match(await join(token.slice(0, -8)), { code: "INVALID_ARGUMENT", reason: "INVALID_FIELD" });
  t.match(await join(token, "Node_1"), { code: "INVALID_ARGUMENT", reason: "INVALID_FIELD" });
  t.match(await join(formatJoinToken({ ...parsed, code: parsed.code.replaceAll(/./g, "A") })), {
    code: "PERMISSION_DENIED",
    reason: "JOIN_TOKEN_REFUSED",
  });
  const foreign = parseJoinToken((await other.admin(FleetService).createHostToken({})).token);
  t.match(
    await join(formatJoinToken({ ...parsed, hubs: foreign.hubs })),
    { code: "FAILED_PRECONDITION", reason: "HUB_NOT_TRUSTED" },
    "a hub of another fleet at the address",
  );
  t.match(await join(formatJoinToken({ ...parsed, code: foreign.code })), { reason: "JOIN_TOKEN_REFUSED" });

  t.match(await join(token), { code: "OK" });
  t.match(await join(token), { code: "FAILED_PRECONDITION", reason: "ALREADY_MEMBER" });
  const second = await startMemberUnderTest(t, {});
  t.match(await rpcErrorOf(second.admin(MembershipService).joinFleet({ token, name: "node-2" })), {
    code: "PERMISSION_DENIED",
    reason: "JOIN_TOKEN_REFUSED",
    message: /used already/,
  });
  const { token: another } = await hub.admin(FleetService).createHostToken({});
  t.match(await rpcErrorOf(second.admin(MembershipService).joinFleet({ token: another, name: "node-1" })), {
    code: "ALREADY_EXISTS",
    reason: "HOST_EXISTS",
  });
  t.match(
    await rpcErrorOf(second.admin(MembershipService).joinFleet({ token: another, name: "node-2" })),
    { code: "OK" },
    "a refused name does not use up the token",
  );
});

test("a host whose answer was lost joins when it asks again", async (t) => {
  const hub = await startHubUnderTest(t);
  const agent = await startMemberUnderTest(t, {});
  const { token } = await hub.admin(FleetService).createHostToken({});
  const parsed = parseJoinToken(token);
  const isMember = async () => (await hub.admin(FleetService).listHosts({})).hosts.length === 1;
  // The first connection reads the hub's certificates; the second one sends the request.
  const proxy = await openLosingProxy(t, parsed.hubs[0] ?? "", 2, isMember);
  const lossy = formatJoinToken({ ...parsed, hubs: [proxy.address] });
  const { membership } = await agent.admin(MembershipService).joinFleet({ token: lossy, name: "node-1" });
  t.ok(proxy.connections() > 2, "the host has asked again");
  t.equal(membership?.name, "node-1");
  await untilHosts(hub, ([host]) => host?.connected === true);
});

test("a removed host is disconnected, and cannot come back as a new host of its name", async (t) => {
  const hub = await startHubUnderTest(t);
  const agent = await startMemberUnderTest(t, {});
  await joinFleet(hub, agent, "node-1");
  await hub.admin(FleetService).removeHost({ name: "node-1" });
  t.same((await hub.admin(FleetService).listHosts({})).hosts, []);
  const problem = async () =>
    (await agent.admin(MembershipService).getMembership({})).membership?.hubs[0]?.problem ?? "";
  await t.resolves(until(async () => /is not a member of this fleet/.test(await problem())));

  const successor = await startMemberUnderTest(t, {});
  await joinFleet(hub, successor, "node-1");
  await untilHosts(hub, ([host]) => host?.connected === true);
  await t.resolves(until(async () => /is not a member of this fleet/.test(await problem())));
});

test("a hub with several addresses has one connection of a host, and no problem", async (t) => {
  const port = await freePort();
  const addresses = [`127.0.0.1:${port}`, `localhost:${port}`];
  const hub = await startHubUnderTest(t, { fleet: { hub: { listen: addresses[0], addresses } } });
  const agent = await startMemberUnderTest(t, {});
  await joinFleet(hub, agent, "node-1");
  const { membership } = await agent.admin(MembershipService).getMembership({});
  t.same(
    membership?.hubs.map(({ connected }) => connected).toSorted((one) => (one ? 1 : -1)),
    [false, true],
  );
  t.match(
    membership?.hubs.find(({ connected }) => !connected),
    { problem: /connected by another of its addresses/ },
  );
  const { hosts } = await hub.admin(FleetService).listHosts({});
  t.match(hosts, [{ name: "node-1", connected: true, problem: "" }]);
});

test("CallHosts streams each host's answer, and the errors of hosts beside them", async (t) => {
  const hub = await startHubUnderTest(t);
  const agents = await Promise.all([startMemberUnderTest(t, {}), startMemberUnderTest(t, {})]);
  await joinFleet(hub, agents[0], "node-1", [rackA]);
  await joinFleet(hub, agents[1], "node-2", [rackA]);
  await untilHosts(hub, (hosts) => hosts.every(({ connected }) => connected));
  const call = async (request: Record<string, unknown>) => {
    const answers: CallHostsResponse[] = [];
    for await (const answer of hub.admin(FleetService).callHosts(request)) {
      answers.push(answer);
    }
    return answers.toSorted((one, other) => (one.host < other.host ? -1 : 1));
  };
  const body = new TextEncoder().encode(JSON.stringify({ deviceClass: "sandbox-ssd" }));
  const lists = await call({ method: "proto.VGService/GetLVList", labels: [rackA], body });
  t.same(
    lists.map(({ host, outcome }) => [host, outcome.case]),
    [
      ["node-1", "body"],
      ["node-2", "body"],
    ],
  );
  const wrong = new TextEncoder().encode(JSON.stringify({ deviceClass: "none" }));
  t.match(await call({ method: "proto.VGService/GetLVList", hosts: ["node-1"], body: wrong }), [
    { host: "node-1", outcome: { case: "error", value: { code: "NOT_FOUND" } } },
  ]);
  for (const [request, field] of [
    [{ method: "proto.VGService/GetLVList" }, "hosts"],
    [{ method: "proto.VGService/Watch", hosts: ["node-1"] }, "method"],
    [{ method: "services.auth.AuthService/Login", hosts: ["node-1"] }, "method"],
    [{ method: "proto.VGService/GetLVList", hosts: ["node-1"], contentType: "text/html" }, "content_type"],
    [{ method: "proto.VGService/GetLVList", hosts: ["node-1"], maxConcurrent: 65 }, "max_concurrent"],
  ] as const) {
    t.match(await rpcErrorOf(call(request)), { code: "INVALID_ARGUMENT", message: new RegExp(field) });
  }
  t.match(await rpcErrorOf(call({ method: "proto.VGService/GetLVList", hosts: ["node-9"] })), {
    code: "NOT_FOUND",
    reason: "HOST_UNKNOWN",
    message: /node-1, node-2/,
  });
});
