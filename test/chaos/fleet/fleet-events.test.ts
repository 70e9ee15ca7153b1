import { setTimeout as delay } from "node:timers/promises";
import { test } from "tap";
import { type Event, EventService } from "../../../gen/hostplane/v1/event_pb.ts";
import { LVService } from "../../../gen/proto/lvmd_pb.ts";
import { parseCursor } from "../../../server/events/cursor.ts";
import { isLongForm } from "../../long-form.ts";
import { freePort } from "../../server/harness/free-port.ts";
import { until } from "../../server/harness/until.ts";
import { makeDirectory } from "../../server/store/store-under-test.ts";
import { openCutRelay } from "../cut-relay.ts";
import { historyFailures } from "../events/event-history.ts";
import { createRandom } from "../random.ts";
import { createMemberProcess, type MemberProcess } from "./member-process.ts";
import { assertMerged, factsOf, isMarker, readEvents, subscribePatiently } from "./merged-events.ts";

const rounds = isLongForm ? 60 : 5;
const seed = Number(process.env.CHAOS_SEED ?? Date.now() % 1_000_000);
const deviceClass = "sandbox-ssd";

/** Creates and removes volumes of a host until it is stopped, whatever happens to the host. */
function changeVolumes(host: MemberProcess): () => Promise<void> {
  let isStopped = false;
  async function change(): Promise<void> {
    for (let count = 0; !isStopped; count += 1) {
      const name = `v-${Date.now()}-${count}`;
      const lv = host.admin(LVService);
      try {
        await lv.createLV({ name, sizeGb: 1n, deviceClass });
        await lv.removeLV({ name, deviceClass });
      } catch {
        await delay(50);
      }
      await delay(20);
    }
  }
  const changing = change();
  return async () => {
    isStopped = true;
    await changing;
  };
}

async function createMarker(host: MemberProcess, name: string): Promise<void> {
  const isCreated = () =>
    host
      .admin(LVService)
      .createLV({ name, sizeGb: 1n, deviceClass })
      .then(
        () => true,
        () => false,
      );
  await until(isCreated);
}

test("a hub merges every event of its hosts once and in order, while all are killed and cut off", async (t) => {
  t.comment(`CHAOS_SEED=${seed}`);
  const random = createRandom(seed);
  const directory = await makeDirectory(t);
  const port = await freePort();
  const relay = await openCutRelay(t, `http://127.0.0.1:${port}`);
  const hub = createMemberProcess(t, `${directory}/hub`, {
    host: "hub-1",
    fleet: { hub: { listen: `127.0.0.1:${port}`, addresses: [new URL(relay.url).host] } },
  });
  const names = ["node-1", "node-2"] as const;
  const agents = names.map((name) => createMemberProcess(t, `${directory}/${name}`, { host: name }));
  await Promise.all([hub, ...agents].map((member) => member.start()));
  const firstCursor = await new Promise<string>((resolve, reject) => {
    (async () => {
      for await (const { message } of hub.admin(EventService).subscribe({})) {
        return message.value?.cursor ?? "";
      }
      throw new Error("the stream has ended");
    })().then(resolve, reject);
  });
  for (const [index, agent] of agents.entries()) {
    const token = await hub.command("host", "token", "-o", "name");
    await agent.command("host", "join", token, "--name", names[index] ?? "");
  }
  const subscribers = [1, 2, 3].map(() => subscribePatiently(hub.admin(EventService), firstCursor));
  const writers = agents.map(changeVolumes);
  const [first] = subscribers;
  await until(() => names.every((name) => first?.events.some(({ fleetHost }) => fleetHost === name)));

  async function restart(member: MemberProcess): Promise<void> {
    await member.kill();
    await delay(random.int(0, 300));
    await member.start();
  }
  const troubles: Readonly<Record<string, () => Promise<void>>> = {
    "an agent is killed": () => restart(random.pick(agents)),
    "the hub is killed": () => restart(hub),
    "the hub and an agent are killed": async () => {
      await Promise.all([restart(hub), restart(random.pick(agents))]);
    },
    "connections are cut": async () => {
      for (let cuts = random.int(1, 5); cuts > 0; cuts -= 1) {
        relay.cut();
        await delay(random.int(20, 400));
      }
    },
    "the network is silent": async () => {
      relay.freeze();
      await delay(random.int(500, 5000));
      relay.cut();
    },
  };
  for (let round = 0; round < rounds; round += 1) {
    const kinds = Object.keys(troubles);
    const kind = round < kinds.length ? kinds[round] : random.pick(kinds);
    t.comment(`${round + 1}: ${kind}`);
    await troubles[kind ?? ""]?.();
    random.pick(subscribers).drop();
    await delay(random.int(0, 1500));
  }

  await Promise.all(writers.map((stop) => stop()));
  await Promise.all(agents.map((agent, index) => createMarker(agent, `last-${index + 1}`)));
  await until(() =>
    subscribers.every(({ events }) => names.every((_, index) => events.some(isMarker(`last-${index + 1}`)))),
  );
  await Promise.all(subscribers.map(({ stop }) => stop()));

  const endSeq = Math.max(...(first?.events ?? []).map(({ cursor }) => parseCursor(cursor).seq));
  const merged = await readEvents(
    hub.admin(EventService),
    firstCursor,
    ({ cursor }) => parseCursor(cursor).seq >= endSeq,
  );
  for (const [index, agent] of agents.entries()) {
    const own = await readEvents(agent.admin(EventService), undefined, isMarker(`last-${index + 1}`));
    const upToMarker = merged.slice(0, merged.findIndex(isMarker(`last-${index + 1}`)) + 1);
    assertMerged(t, names[index] ?? "", upToMarker, own);
  }
  for (const [index, { connections }] of subscribers.entries()) {
    const name = `subscriber ${index + 1}`;
    const seen = Math.max(
      ...connections.flatMap(({ messages }) => messages.map(({ cursor }) => parseCursor(cursor).seq)),
    );
    const appended = merged
      .map((event) => ({ seq: parseCursor(event.cursor).seq, id: factsOf(event) + event.cursor }))
      .filter(({ seq }) => seq <= seen);
    const failures = historyFailures(
      { name, matches: () => true, connections: connections.filter(({ messages }) => messages.length > 0) },
      appended,
      (cursor) => parseCursor(cursor).seq,
    );
    t.same(failures, [], `${name}, over ${connections.length} connections`);
  }

  const lost = subscribePatiently(hub.admin(EventService), merged.at(-1)?.cursor ?? "");
  await agents[0]?.kill();
  const isAbout = (type: string) => (event: Event) =>
    event.type === type && event.resource === "hosts/node-1";
  await until(() => lost.events.some(isAbout("host.lost")));
  await agents[0]?.start();
  await until(() => lost.events.some(isAbout("host.back")));
  await lost.stop();
  t.same(
    lost.events.filter(({ resource }) => resource === "hosts/node-1").map(({ type }) => type),
    ["host.lost", "host.back"],
    "a host is lost and back, once each",
  );
});
