import { test } from "tap";
import {
  type ConnectionState,
  createHostplaneClient,
  describeError,
  type HostplaneClient,
} from "../../client/client.ts";
import { cursorFrom } from "../../server/events/cursor.ts";
import { openCutRelay } from "../chaos/cut-relay.ts";
import { adminPassword } from "../server/harness/gateway-under-test.ts";
import { startRestartableGateway } from "./restartable-gateway.ts";

async function clientOf(baseUrl: string): Promise<HostplaneClient> {
  const client = createHostplaneClient({ baseUrl });
  await client.login("admin", adminPassword, { keepLogin: true });
  return client;
}

/** Collects the cursors of events in the background, starting before the first event. */
async function collect(client: HostplaneClient, options: { cursor?: string } = {}) {
  const controller = new AbortController();
  const live = Promise.withResolvers<void>();
  const cursors: string[] = [];
  const states: ConnectionState[] = [];
  const onState = (state: ConnectionState) => {
    states.push(state);
    if (state.state === "live") {
      live.resolve();
    }
  };
  const listeners = new Set<() => void>();
  const ended = (async () => {
    for await (const { cursor } of client.watchEvents({ ...options, signal: controller.signal, onState })) {
      cursors.push(cursor);
      for (const listener of listeners) {
        listener();
      }
    }
  })();
  await Promise.race([live.promise, ended]);
  return {
    cursors,
    states,
    /** Resolves when this event has been received. */
    async until(cursor: string) {
      while (!cursors.includes(cursor)) {
        const { promise, resolve } = Promise.withResolvers<void>();
        listeners.add(resolve);
        await promise;
        listeners.delete(resolve);
      }
    },
    async end() {
      controller.abort();
      await ended;
    },
  };
}

/** Creates and removes a volume; returns the cursor of the last event about it. */
async function makeEvents(client: HostplaneClient, name: string): Promise<string> {
  const controller = new AbortController();
  const live = Promise.withResolvers<void>();
  const resources = [`volumeGroups/sandbox-vg/volumes/${name}`];
  const reported = (async () => {
    const onState = () => live.resolve();
    for await (const event of client.watchEvents({ resources, signal: controller.signal, onState })) {
      if (event.type === "volume.removed") {
        controller.abort();
        return event.cursor;
      }
    }
    return "";
  })();
  await live.promise;
  await client.logicalVolumes.createLV({ name, sizeGb: 1n });
  await client.logicalVolumes.removeLV({ name });
  return reported;
}

test("events arrive without a gap or repeat across cut connections and a gateway restart", async (t) => {
  const gateway = await startRestartableGateway(t);
  const relay = await openCutRelay(t, gateway.url);
  const direct = await clientOf(gateway.url);
  const watcher = await collect(await clientOf(relay.url));
  await makeEvents(direct, "before");
  for (const name of ["cut-1", "cut-2", "cut-3"]) {
    relay.cut();
    await makeEvents(direct, name);
  }
  await gateway.stop();
  await gateway.start();
  await watcher.until(await makeEvents(direct, "after"));
  await watcher.end();

  const [first = ""] = watcher.cursors;
  const last = watcher.cursors.at(-1) ?? "";
  const history = await collect(direct, { cursor: first });
  await history.until(last);
  await history.end();
  const all = [first, ...history.cursors];
  t.same(
    watcher.cursors,
    all.slice(0, all.indexOf(last) + 1),
    "the same events as in the store, in the same order",
  );
  t.ok(watcher.cursors.length >= 10, `${watcher.cursors.length} events`);
  const states = watcher.states.map(({ state }) => state);
  t.same(states.slice(0, 4), ["connecting", "live", "lost", "connecting"]);
  t.equal(states.at(-1), "live");
  const lost = watcher.states.find((state) => state.state === "lost");
  t.ok(lost !== undefined && lost.retryAtMs > Date.now() - 60_000);
});

test("a login that expires during a watch is renewed, and the watch continues", async (t) => {
  const gateway = await startRestartableGateway(t, { tokenHours: 4 / 3600 });
  const client = await clientOf(gateway.url);
  const watcher = await collect(client);
  const startedAtMs = Date.now();
  let last = "";
  // A login takes a second on a busy machine, which must be less than it lasts.
  for (let round = 0; Date.now() - startedAtMs < 9_000; round += 1) {
    last = await makeEvents(client, `round-${round}`);
  }
  await watcher.until(last);
  await watcher.end();
  t.equal(new Set(watcher.cursors).size, watcher.cursors.length, "no repeat");
  t.notOk(watcher.states.some(({ state }) => state === "lost"));
});

test("events that are no longer stored are reported as a gap, and the watch continues after it", async (t) => {
  const gateway = await startRestartableGateway(t);
  const client = await clientOf(gateway.url);
  const controller = new AbortController();
  const gaps: string[] = [];
  const cursor = cursorFrom({ epoch: "00000000-0000-4000-8000-000000000000", seq: 7 });
  const onCursor = () => controller.abort();
  const onGap = (error: unknown) => gaps.push(describeError(error).reason);
  for await (const _ of client.watchEvents({ cursor, onGap, onCursor, signal: controller.signal })) {
    // Any stored event.
  }
  t.same(gaps, ["HISTORY_GONE"]);
});

test("a watch that cannot start reports why", async (t) => {
  const gateway = await startRestartableGateway(t);
  const nobody = createHostplaneClient({ baseUrl: gateway.url });
  const first = (client: HostplaneClient, cursor?: string) =>
    client.watchEvents({ cursor })[Symbol.asyncIterator]().next();
  await t.rejects(first(nobody), { message: /needs a login/ });
  await t.rejects(first(await clientOf(gateway.url), "no cursor"), { message: /cursor/ });
});
