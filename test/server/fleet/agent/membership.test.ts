import { once } from "node:events";
import { connect, createServer } from "node:net";
import { mock } from "node:test";
import type { TLSSocket } from "node:tls";
import { type Test, test } from "tap";
import { hostAndPort } from "../../../../server/fleet/agent/connect-to-hub.ts";
import type { StoredMembership } from "../../../../server/fleet/agent/enroll.ts";
import { createLinkServer } from "../../../../server/fleet/agent/link-server.ts";
import { openMembership } from "../../../../server/fleet/agent/membership.ts";
import { openStoreWithEvents } from "../../events/store-with-events.ts";
import { freePort } from "../../harness/free-port.ts";
import { until } from "../../harness/until.ts";
import { enrollHost } from "../enrolled-host.ts";
import { startHubUnderTest } from "../fleet-under-test.ts";

const dayMs = 86_400_000;
const seal = { seal: (secret: Uint8Array) => secret, open: (sealed: Uint8Array) => sealed };

/** Opens the membership of a gateway that has joined. */
async function openMember(t: Test, stored: StoredMembership) {
  const store = await openStoreWithEvents(t);
  await store.run("fleet.setMembership", { sealed: Buffer.from(JSON.stringify(stored)) });
  const connections: TLSSocket[] = [];
  const server = createLinkServer({
    onRequest: (_request, response) => void response.end(),
    onStream: () => false,
  });
  const membership = await openMembership({
    store,
    seal,
    version: "0.1.0",
    log: { info() {}, warn: (message) => t.comment(message) },
    server: {
      serve(connection, hub) {
        connections.push(connection as TLSSocket);
        server.serve(connection, hub);
      },
      close: server.close,
    },
  });
  t.teardown(() => membership.close());
  return { membership, store, connections };
}

/** Opens a proxy between a hub and its hosts. @param mayPass called for each connection, which then waits for it */
async function openProxy(t: Test, address: string, hub: string, mayPass: () => Promise<void>): Promise<void> {
  const server = createServer(async (client) => {
    client.on("error", () => {});
    await mayPass();
    const upstream = connect(hostAndPort(hub)).on("error", () => {});
    client.pipe(upstream).pipe(client);
    client.once("close", () => upstream.destroy());
    upstream.once("close", () => client.destroy());
  }).listen(hostAndPort(address));
  await once(server, "listening");
  t.teardown(() => void server.close());
}

test("a renewed certificate is used for the next connection, and breaks no other", async (t) => {
  const [own, proxied] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
  const hub = await startHubUnderTest(t, { fleet: { hub: { listen: own, addresses: [proxied] } } });
  let mayPass = async () => {};
  await openProxy(t, proxied, own, () => mayPass());
  const { membership, store, connections } = await openMember(t, await enrollHost(hub, "node-1"));
  const stored = async () => String(await store.run("fleet.membership", undefined));
  const before = await stored();
  let count = 0;
  mayPass = async () => {
    count += 1;
    const isSecond = count === 2;
    // The host connects first. The certificate is renewed when it is connected. Later attempts, on a busy machine, pass.
    await until(() => !isSecond || connections.length > 0);
  };
  // It decides at once whether a certificate must be renewed.
  mock.timers.enable({ apis: ["Date"], now: Date.now() + 21 * dayMs });
  membership.begin();
  mock.timers.reset();
  // Both certificates may expire in the same second.
  await until(async () => (await stored()) !== before);
  // What follows the renewal comes before the end of another change.
  await membership.setHubs([proxied]);
  const [first] = connections;
  t.equal(connections.length, 1);
  t.notOk(first?.destroyed, "calls on the connection go on");

  first?.destroy();
  await until(() => connections.length === 2);
  const shownBy = (connection: TLSSocket | undefined) => connection?.getX509Certificate()?.fingerprint256;
  t.not(shownBy(connections[1]), shownBy(first));
});

test("what a hub reports does not undo that the host leaves", async (t) => {
  const hub = await startHubUnderTest(t);
  const { membership, store } = await openMember(t, await enrollHost(hub, "node-1"));
  await Promise.all([membership.leave(), membership.setHubs(["127.0.0.1:1"])]);
  t.equal(membership.state(), undefined);
  t.equal(await store.run("fleet.membership", undefined), undefined);
  await t.rejects(membership.leave(), { message: /not a member/ });
});
