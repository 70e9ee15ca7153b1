import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DescService } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import { type Test, test } from "tap";
import { FleetService, MembershipService } from "../../../gen/hostplane/v1/fleet_pb.ts";
import { VGService } from "../../../gen/proto/lvmd_pb.ts";
import { enroll } from "../../../server/fleet/agent/enroll.ts";
import { createSigningRequest } from "../../../server/fleet/authority/issue-certificate.ts";
import { parseJoinToken } from "../../../server/fleet/join-token.ts";
import { createMemberProcess } from "../../chaos/fleet/member-process.ts";
import { startMemberUnderTest, untilHosts } from "../../server/fleet/fleet-under-test.ts";
import { logIn } from "../../server/fleet/forward/fleet-under-test.ts";
import { freePort } from "../../server/harness/free-port.ts";
import { rpcErrorOf } from "../../server/harness/rpc-error.ts";
import { until } from "../../server/harness/until.ts";
import { makeDirectory } from "../../server/store/store-under-test.ts";
import { reasonToSkipPostgres, startPostgres } from "./postgres.ts";

const skip = reasonToSkipPostgres();
const deviceClass = "sandbox-ssd";

interface Member {
  admin<S extends DescService>(service: S): Client<S>;
}

/** Returns the settings of a hub with the address that its agents get. */
async function createHubSettings(t: Test): Promise<(name: string) => Promise<Record<string, unknown>>> {
  const postgres = await startPostgres(t);
  const store = await postgres.createDatabase();
  const keyFile = join(await makeDirectory(t), "key");
  writeFileSync(keyFile, randomBytes(32).toString("base64"), { mode: 0o600 });
  return async (name) => {
    const listen = `127.0.0.1:${await freePort()}`;
    return { host: name, store, keyFile, fleet: { hub: { listen, addresses: [listen] } } };
  };
}

async function connectedHubs(agent: Member): Promise<number> {
  const { membership } = await agent.admin(MembershipService).getMembership({});
  return membership?.hubs.filter(({ connected }) => connected).length ?? 0;
}

/** Creates a volume on `node-1`. Returns the status and the body. */
async function createVolume(
  url: string,
  authorization: string,
  name: string,
): Promise<{ status: number; text: string }> {
  const response = await fetch(`${url}/hosts/node-1/proto.LVService/CreateLV`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json", "idempotency-key": `key-${name}` },
    body: JSON.stringify({ name, sizeGb: "1", deviceClass }),
  });
  return { status: response.status, text: await response.text() };
}

async function createdVolumes(agent: Member): Promise<string[]> {
  const { volumes } = await agent.admin(VGService).getLVList({ deviceClass });
  return volumes.map(({ name }) => name).filter((name) => name.startsWith("created-"));
}

test("hubs on one PostgreSQL are one fleet, and any of them serves any call", {
  skip,
  timeout: 300_000,
}, async (t) => {
  const settingsOf = await createHubSettings(t);
  const startHub = async (name: string) => startMemberUnderTest(t, await settingsOf(name), { isReal: true });
  const [one, two] = await Promise.all([startHub("hub-1"), startHub("hub-2")]);
  const agent = await startMemberUnderTest(t, {});
  // Each hub learns of the other.
  const tokenOf = async (hub: Member) =>
    (await hub.admin(FleetService).createHostToken({ labels: [{ name: "rack", value: "a" }] })).token;
  await until(async () =>
    (await Promise.all([tokenOf(one), tokenOf(two)])).every((each) => parseJoinToken(each).hubs.length === 2),
  );
  const token = parseJoinToken(await tokenOf(one));
  t.equal(parseJoinToken(await tokenOf(two)).rootFingerprint, token.rootFingerprint, "one authority");

  const twice = await Promise.allSettled(
    [token.hubs, token.hubs.toReversed()].map(async (hubs, at) =>
      enroll({ ...token, hubs }, `twice-${at}`, await createSigningRequest()),
    ),
  );
  t.same(twice.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"], "a token is used once");
  t.match(
    twice.find(({ status }) => status === "rejected"),
    { reason: { reason: "JOIN_TOKEN_REFUSED" } },
  );
  for (const { name } of (await two.admin(FleetService).listHosts({})).hosts) {
    await two.admin(FleetService).removeHost({ name });
  }

  await agent.admin(MembershipService).joinFleet({ token: await tokenOf(one), name: "node-1" });
  await until(async () => (await connectedHubs(agent)) === 2);
  for (const hub of [one, two]) {
    await untilHosts(hub, ([host]) => host?.connected === true && host.hubs.join() === "hub-1,hub-2");
  }

  const authorization = await logIn(one.url);
  const both = await Promise.all(
    [one, two].map(({ url }) => createVolume(url, authorization, "created-both")),
  );
  t.match(both, [{ status: 200 }, { status: 200 }], "a key that both hubs get at once");
  t.equal(both[0]?.text, both[1]?.text);
  t.same(await createdVolumes(agent), ["created-both"]);

  await two.admin(FleetService).setHostLabels({ name: "node-1", labels: [{ name: "rack", value: "b" }] });
  await untilHosts(one, ([host]) => host?.labels.rack === "b");

  const three = await startHub("hub-3");
  await until(async () => (await connectedHubs(agent)) === 3);
  await untilHosts(three, ([host]) => host?.connected === true && host.hubs.length === 3);
  t.match(await createVolume(three.url, authorization, "created-later"), { status: 200 });
  await three.gateway.close();
  await untilHosts(one, ([host]) => host?.hubs.join() === "hub-1,hub-2");

  await two.admin(FleetService).removeHost({ name: "node-1" });
  await untilHosts(one, (hosts) => hosts.length === 0);
  t.match(await createVolume(one.url, authorization, "created-never"), { status: 404 });
  await t.resolves(
    until(async () => {
      const { membership } = await agent.admin(MembershipService).getMembership({});
      return membership?.hubs.every(({ connected }) => !connected) === true;
    }),
    "its connections to all hubs are closed",
  );
});

test("calls whose hub is killed run once when they are repeated through another hub", {
  skip,
  timeout: 300_000,
}, async (t) => {
  const settingsOf = await createHubSettings(t);
  const directory = await makeDirectory(t);
  const startHub = async (name: string) => {
    const hub = createMemberProcess(t, join(directory, name), await settingsOf(name), { isReal: true });
    await hub.start();
    return hub;
  };
  const [one, two] = await Promise.all([startHub("hub-1"), startHub("hub-2")]);
  const agent = await startMemberUnderTest(t, {});
  const { token } = await one.admin(FleetService).createHostToken({});
  await agent.admin(MembershipService).joinFleet({ token, name: "node-1" });
  await until(async () => (await connectedHubs(agent)) === 2);
  const authorization = await logIn(one.url());
  const names = Array.from({ length: 8 }, (_, at) => `created-${at}`);
  const first = names.map((name) => createVolume(one.url(), authorization, name).catch(() => undefined));
  await until(async () => (await createdVolumes(agent)).length > 0);
  await one.kill();
  const answered = (await Promise.all(first)).filter((each) => each !== undefined).length;
  const again = await Promise.all(names.map((name) => createVolume(two.url(), authorization, name)));
  t.comment(`${answered} of ${names.length} calls were answered before the hub was killed`);
  t.same(
    again.filter(({ status }) => status !== 200),
    [],
  );
  t.same((await createdVolumes(agent)).toSorted(), names.toSorted());
  await untilHosts(two, ([host]) => host?.hubs.join() === "hub-2");
  t.match(await rpcErrorOf(two.admin(FleetService).removeHost({ name: "node-1" })), { code: "OK" });
});
