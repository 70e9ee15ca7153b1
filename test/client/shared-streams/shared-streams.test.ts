import { test } from "tap";
import type { HostplaneClient } from "../../../client/client.ts";
import { adminPassword } from "../../server/gateway-under-test.ts";
import { startRestartableGateway } from "../restartable-gateway.ts";
import { createWindows } from "./windows.ts";

const carry = "/hostplane.v1.StreamService/CarryStreams";

/** Follows the free space of a window's gateway. */
function follow(client: HostplaneClient) {
  const stop = new AbortController();
  const states: string[] = [];
  const watch = client.watch((options) => client.volumeGroups.watch({}, options), {
    signal: stop.signal,
    onState: ({ state }) => states.push(state),
  });
  const messages = watch[Symbol.asyncIterator]();
  return { states, next: async () => (await messages.next()).value?.freeBytes, stop: () => stop.abort() };
}

test("the streams of all windows with a login use one connection", async (t) => {
  const { url } = await startRestartableGateway(t);
  const windows = createWindows(t);
  const first = windows.open({ baseUrl: url });
  await first.login("admin", adminPassword);
  const token = (await first.auth.login({ username: "admin", password: adminPassword })).token;
  const followed = [1, 2, 3].flatMap(() => {
    const client = windows.open({ baseUrl: url, token });
    return [follow(client), follow(client), follow(client)];
  });
  const before = await Promise.all(followed.map(({ next }) => next()));
  await first.logicalVolumes.createLV({ name: "shared", sizeGb: 1n });
  const after = await Promise.all(followed.map(({ next }) => next()));
  t.ok(before.every((bytes) => bytes === before[0]));
  t.ok(after.every((bytes) => bytes === (before[0] ?? 0n) - (1n << 30n)));
  t.equal(windows.requests.filter((path) => path === carry).length, 1);
  const own = follow(first);
  await own.next();
  t.equal(windows.requests.filter((path) => path === carry).length, 2, "another token has its own connection");
  for (const { stop } of [...followed, own]) {
    stop();
  }
});
