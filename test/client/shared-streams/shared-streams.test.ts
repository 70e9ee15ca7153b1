import { type Test, test } from "tap";
import { describeError, type HostplaneClient } from "../../../client/client.ts";
import { clientOf } from "../../browser/client-of.ts";
import { adminPassword, startGatewayUnderTest } from "../../server/harness/gateway-under-test.ts";
import { startRestartableGateway } from "../restartable-gateway.ts";
import { createWindows } from "./windows.ts";

const gib = 1n << 30n;
const carry = "/hostplane.v1.StreamService/CarryStreams";
const watchSpace = "/proto.VGService/Watch";
const opens = "/hostplane.v1.StreamService/OpenStream";

/** Follows the free space in a window. */
function follow(t: Test, client: HostplaneClient) {
  const stopping = new AbortController();
  t.teardown(() => stopping.abort());
  const states: string[] = [];
  const watch = client.watch((options) => client.volumeGroups.watch({}, options), {
    signal: stopping.signal,
    onState: ({ state }) => states.push(state),
  });
  const messages = watch[Symbol.asyncIterator]();
  const next = async () => (await messages.next()).value?.freeBytes;
  /** The first of the next values that is ready. The very first watcher may get its first state twice. */
  const nextWhen = async (isReady: (freeBytes: bigint) => boolean) => {
    let freeBytes: bigint | undefined;
    do {
      freeBytes = await next();
    } while (freeBytes !== undefined && !isReady(freeBytes));
    return freeBytes;
  };
  return { states, next, nextWhen };
}

async function logIn(client: HostplaneClient): Promise<string> {
  return (await client.auth.login({ username: "admin", password: adminPassword })).token;
}

test("the streams of all windows with a token use one connection", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const admin = await clientOf(url);
  const token = await logIn(admin);
  const windows = createWindows(t);
  const followed = [1, 2, 3].flatMap(() => {
    const client = windows.open({ baseUrl: url, token });
    return [follow(t, client), follow(t, client), follow(t, client)];
  });
  const before = await Promise.all(followed.map(({ next }) => next()));
  await admin.logicalVolumes.createLV({ name: "shared", sizeGb: 1n });
  const after = await Promise.all(followed.map(({ nextWhen }) => nextWhen((bytes) => bytes !== before[0])));
  t.ok(before.every((bytes) => bytes === before[0]));
  t.ok(after.every((bytes) => bytes === (before[0] ?? 0n) - gib));
  t.equal(windows.requests.filter((path) => path === carry).length, 1);
  t.equal(windows.requests.filter((path) => path === opens).length, 9);
  await follow(t, windows.open({ baseUrl: url, token: await logIn(admin) })).next();
  t.equal(windows.requests.filter((path) => path === carry).length, 2, "another token has its own");
});

test("streams of windows continue after a restart of the gateway", async (t) => {
  const gateway = await startRestartableGateway(t);
  const windows = createWindows(t);
  const token = await logIn(await clientOf(gateway.url));
  const followed = [1, 2].map(() => follow(t, windows.open({ baseUrl: gateway.url, token })));
  await Promise.all(followed.map(({ next }) => next()));
  await gateway.stop();
  const next = followed.map((each) => each.nextWhen(() => each.states.includes("lost")));
  await gateway.start();
  t.same(await Promise.all(next), [8n * gib, 8n * gib]);
  for (const { states } of followed) {
    t.same([states.slice(0, 3), states.at(-1)], [["connecting", "live", "lost"], "live"]);
  }
});

test("the end of a login ends the streams of all windows with its reason", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const windows = createWindows(t);
  const token = await logIn(await clientOf(url));
  const clients = [1, 2].map(() => windows.open({ baseUrl: url, token }));
  const followed = clients.map((client) => follow(t, client));
  await Promise.all(followed.map(({ next }) => next()));
  await clients[0]?.auth.logout({});
  for (const { nextWhen } of followed) {
    const error = await nextWhen(() => false).catch((thrown: unknown) => thrown);
    t.match(describeError(error), { code: "UNAUTHENTICATED", reason: "TOKEN_REVOKED" });
  }
});

test("new streams follow a change of the cookie, and older ones keep their login", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const admin = await clientOf(url);
  let cookie = await logIn(admin);
  const windows = createWindows(t, () => cookie);
  const earlier = follow(t, windows.open({ baseUrl: url }));
  await earlier.next();
  cookie = await logIn(admin);
  const later = follow(t, windows.open({ baseUrl: url }));
  await later.next();
  t.equal(windows.requests.filter((path) => path === carry).length, 2);
  await admin.logicalVolumes.createLV({ name: "both", sizeGb: 1n });
  const isLess = (freeBytes: bigint) => freeBytes !== 8n * gib;
  t.same(await Promise.all([earlier.nextWhen(isLess), later.nextWhen(isLess)]), [7n * gib, 7n * gib]);
  t.same(earlier.states, ["connecting", "live"]);
});

test("a refused stream has the error of the gateway", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const windows = createWindows(t);
  const client = windows.open({ baseUrl: url, token: await logIn(await clientOf(url)) });
  const messages = client.events.subscribe({ topics: ["none"] })[Symbol.asyncIterator]();
  const error = await messages.next().catch((thrown: unknown) => thrown);
  t.match(describeError(error), { code: "INVALID_ARGUMENT", reason: "INVALID_FIELD", field: "topics[0]" });
});

test("a listener without carriers gets the streams directly", async (t) => {
  const { url } = await startGatewayUnderTest(t, {
    listen: [{ address: "127.0.0.1:0", auth: "none", role: "viewer", services: ["proto.VGService"] }],
  });
  const windows = createWindows(t);
  const direct: string[] = [];
  const client = windows.open({
    baseUrl: url,
    fetch: (input, init) => {
      direct.push(new URL(String(input)).pathname);
      return fetch(input, init);
    },
  });
  t.equal(await follow(t, client).next(), 8n * gib);
  t.equal(await follow(t, client).next(), 8n * gib);
  t.same([windows.requests, direct], [[carry], [watchSpace, watchSpace]]);
});
