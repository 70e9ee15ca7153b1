import { test } from "tap";
import { FleetService, MembershipService } from "../../../gen/hostplane/v1/fleet_pb.ts";
import { until } from "../harness/until.ts";
import { connectHost, enrollHost, serveEmptyMessages } from "./enrolled-host.ts";
import { joinFleet, startHubUnderTest, startMemberUnderTest, untilHosts } from "./fleet-under-test.ts";

test("a host that is two minor versions apart is refused, and both sides say why", async (t) => {
  const hub = await startHubUnderTest(t, {}, { version: "0.5.0" });
  const old = await startMemberUnderTest(t, {}, { version: "0.3.9" });
  const near = await startMemberUnderTest(t, {}, { version: "0.6.1" });
  await joinFleet(hub, old, "node-1");
  await joinFleet(hub, near, "node-2");
  const why = /this hub has version 0\.5\.0 and the host 0\.3\.9; .*upgrade the host/;
  await untilHosts(hub, ([, second]) => second?.connected === true);
  const { hosts } = await hub.admin(FleetService).listHosts({});
  t.match(hosts, [
    { name: "node-1", connected: false, problem: why },
    { name: "node-2", connected: true, problem: "" },
  ]);
  const { membership } = await old.admin(MembershipService).getMembership({});
  t.match(membership?.hubs, [{ connected: false, problem: why }]);
  const linesOf = (log: readonly Record<string, unknown>[]) => log.filter(({ msg }) => why.test(String(msg)));
  t.equal(linesOf(hub.log).length, 1, "the hub logs it once, not for each attempt");
  await t.resolves(until(() => linesOf(old.log).length === 1));
});

test("a second agent with the certificate of a host is reported on both sides", async (t) => {
  const hub = await startHubUnderTest(t);
  const membership = await enrollHost(hub, "node-1");
  serveEmptyMessages(await connectHost(t, membership));
  await untilHosts(hub, ([host]) => host?.connected === true);
  const why = /connected already: two agents have the same name and certificate/;
  await t.rejects(connectHost(t, membership), why);
  await untilHosts(hub, ([host]) => why.test(host?.problem ?? ""));
  t.match(await hub.admin(FleetService).listHosts({}), { hosts: [{ connected: true }] });
});
