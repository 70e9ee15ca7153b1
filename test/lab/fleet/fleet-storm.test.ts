import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import { test } from "tap";
import { EventService } from "../../../gen/hostplane/v1/event_pb.ts";
import { type Operation, OperationService } from "../../../gen/hostplane/v1/operation_pb.ts";
import { LVService } from "../../../gen/proto/lvmd_pb.ts";
import { parseCursor } from "../../../server/events/cursor.ts";
import { historyFailures } from "../../chaos/events/event-history.ts";
import { assertMerged, isMarker, readEvents } from "../../chaos/fleet/merged-events.ts";
import { createRandom } from "../../chaos/random.ts";
import { type Follower, followEvents, seqOf } from "../../chaos/rpc/rpc-storm-followers.ts";
import { until } from "../../server/harness/until.ts";
import { makeDirectory } from "../../server/store/store-under-test.ts";
import { reasonToSkipPostgres } from "../postgres/postgres.ts";
import { reasonToSkipNetwork } from "./network.ts";
import { callHosts, createCallerRecord } from "./storm-callers.ts";
import { breakParts, createFaultRecord } from "./storm-faults.ts";
import {
  residentBytes,
  type StormFleet,
  type StormHub,
  type StormMember,
  startStormFleet,
  untilAllConnected,
} from "./storm-fleet.ts";

const skip = reasonToSkipPostgres() || reasonToSkipNetwork();
const isFull = process.env.FLEET_STORM === "full";
const size = isFull
  ? { agents: 40, hubs: 3, faults: 200, faultMs: 6000, callers: 20, subscribers: 20 }
  : { agents: 4, hubs: 2, faults: 10, faultMs: 1500, callers: 4, subscribers: 4 };
const seed = Number(process.env.FLEET_SEED ?? Date.now() % 1_000_000);

test("a fleet whose hosts, hubs, database and network fail at random", {
  skip,
  timeout: 3_600_000,
}, async (t) => {
  const fleet = await startStormFleet(t, await makeDirectory(t), size);
  t.comment(
    `seed ${seed}; hubs at first: ${fleet.hubs.map(({ pid }) => residentBytes(pid()) >> 20).join(", ")} MiB`,
  );
  const random = createRandom(seed);
  const over = new AbortController();
  const calls = createCallerRecord();
  const callers = Array.from({ length: size.callers }, (_, at) =>
    callHosts(fleet, at, createRandom(seed + at + 1), calls, over.signal),
  );
  const watching = new AbortController();
  const subscribers = Array.from({ length: size.subscribers }, (_, at) =>
    followHost(fleet, at, watching.signal),
  );

  t.teardown(() => {
    over.abort();
    watching.abort();
  });

  const faults = createFaultRecord();
  await breakParts(fleet, size, random, faults);
  await untilAllConnected(fleet);
  over.abort();
  await Promise.all(callers);

  const operations = new Map<StormMember, Operation[]>();
  for (const agent of fleet.agents) {
    await until(async () => (await operationsOf(agent)).every(({ endedAt }) => endedAt !== undefined));
    operations.set(agent, await operationsOf(agent));
  }
  t.same(calls.wrongHosts, [], "every answer is of the host that was called, and a repeated change ran once");
  t.same(calls.hanging, [], "every call has ended");
  for (const [{ name }, all] of operations) {
    const foreign = all.filter(({ resource }) => !resource.includes(`/${name}/`));
    t.same(
      foreign.map(({ resource }) => resource),
      [],
      `${name} has its own operations only`,
    );
    const ids = new Set(all.map(({ id }) => id));
    const lost = [...calls.accepted].filter(([id, { host }]) => host === name && !ids.has(id));
    t.same(lost, [], `${name} has ended every accepted operation`);
  }
  const bytes = (members: readonly StormMember[]) => members.map(({ pid }) => residentBytes(pid()) >> 20);
  t.comment(`memory of the hubs in MiB: ${bytes(fleet.hubs).join(", ")}`);
  t.comment(`of the largest agent: ${Math.max(...bytes(fleet.agents))}`);
  await assertMergedEvents();
  await assertEvents();
  const { accepted, failures, repeated } = calls;
  t.comment(
    `${calls.calls} calls, ${accepted.size} operations, ${repeated} changes repeated, ${faults.alone} without hubs`,
  );
  t.comment(`failed calls: ${[...failures].map(([why, count]) => `${count} ${why}`).join("; ")}`);
  t.comment(`faults: ${[...faults.counts].map(([name, count]) => `${count} ${name}`).join(", ")}`);
  for (const [fault, all] of Map.groupBy(faults.backAfterMs, (each) => each.fault)) {
    t.comment(
      `back after ${fault}: ${all
        .map(({ ms }) => ms)
        .toSorted((a, b) => a - b)
        .join(", ")} ms`,
    );
  }

  /** The log of the hubs has each event of each host once and in the order of the host. */
  async function assertMergedEvents(): Promise<void> {
    await Promise.all(
      fleet.agents.map((agent) =>
        agent.admin(LVService).createLV({ name: "last", sizeGb: 1n, deviceClass: "sandbox-ssd" }),
      ),
    );
    const isLast = isMarker("last");
    const ended = new Set<string>();
    const [hub] = fleet.hubs as readonly [StormHub];
    const merged = await readEvents(hub.admin(EventService), undefined, (event) => {
      if (isLast(event)) {
        ended.add(event.fleetHost);
      }
      return ended.size === fleet.agents.length;
    });
    t.comment(`${merged.length} events in the log of the hubs`);
    for (const agent of fleet.agents) {
      const { name } = agent;
      const own = await readEvents(agent.admin(EventService), undefined, isLast);
      const ofHost = merged.filter(({ fleetHost }) => fleetHost === name);
      assertMerged(t, name, ofHost.slice(0, ofHost.findIndex(isLast) + 1), own);
    }
  }

  /** Every subscriber has received each event of its host once and in order. */
  async function assertEvents(): Promise<void> {
    for (const { agent, follower } of subscribers) {
      const last = await lastSeqOf(agent);
      await until(() => seqOf(follower.connections) >= last);
    }
    watching.abort();
    await Promise.all(subscribers.map(({ ended }) => ended));
    await Promise.all(fleet.agents.map(({ kill }) => kill()));
    for (const { agent, follower } of subscribers) {
      const appended = eventsOf(agent).map(({ seq, topic }) => ({ seq, id: String(seq), topic }));
      const topics = new Map(appended.map(({ id, topic }) => [id, topic]));
      const placeOf = (cursor: string) => parseCursor(cursor).seq;
      const connections = follower.connections.map(({ from, messages }) => ({
        from,
        messages: messages.map((message) =>
          message.kind === "event" ? { ...message, id: String(placeOf(message.cursor)) } : message,
        ),
      }));
      const matches = ({ id }: { readonly id: string }) => topics.get(id) === "operations";
      const failures = historyFailures({ name: follower.name, matches, connections }, appended, placeOf);
      t.same(failures, [], `${follower.name} received every event once and in order`);
    }
  }
});

/** Follows the events of a host, through another hub after each interruption. */
function followHost(fleet: StormFleet, number: number, isOver: AbortSignal) {
  const agent = fleet.agents[number % fleet.agents.length] as StormMember;
  let turn = number;
  const subscribe: Client<typeof EventService>["subscribe"] = (request, options) => {
    turn += 1;
    const hub = fleet.hubs[turn % fleet.hubs.length];
    if (hub === undefined) {
      throw new Error("no hub");
    }
    const events = fleet.clientOf(EventService, hub, agent.name, turn);
    const often = { ...request, heartbeatAfter: durationFromMs(1000) } as typeof request;
    return events.subscribe(often, options);
  };
  const follower: Follower = {
    name: `subscriber ${number + 1} of ${agent.name}`,
    events: { subscribe } as Client<typeof EventService>,
    connections: [],
  };
  return { agent, follower, ended: followEvents(follower, () => delay(50), isOver) };
}

/** Reads all operations at the host itself. */
async function operationsOf(agent: StormMember): Promise<Operation[]> {
  const client = agent.admin(OperationService);
  const all: Operation[] = [];
  let pageToken = "";
  do {
    const page = await client.listOperations({ pageToken, pageSize: 200 });
    all.push(...page.operations);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return all;
}

/** Returns the sequence number of the last event of a host. */
async function lastSeqOf(agent: StormMember): Promise<number> {
  for await (const { message } of agent.admin(EventService).subscribe({})) {
    return parseCursor(message.value?.cursor ?? "").seq;
  }
  throw new Error("no message");
}

/** Reads the events in the store of a host that has been killed, in order. */
function eventsOf(agent: StormMember): { readonly seq: number; readonly topic: string }[] {
  const database = new DatabaseSync(join(agent.directory, "data", "sandbox", "hostplane.db"));
  try {
    const rows = database.prepare("select seq, topic from events order by seq").all();
    return rows.map(({ seq, topic }) => ({ seq: Number(seq), topic: String(topic) }));
  } finally {
    database.close();
  }
}
