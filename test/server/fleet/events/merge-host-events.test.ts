import type { Client } from "@connectrpc/connect";
import { test } from "tap";
import { isSettledWithin } from "../../../../adapters/host/is-settled-within.ts";
import { type Event, EventService } from "../../../../gen/hostplane/v1/event_pb.ts";
import { FleetService } from "../../../../gen/hostplane/v1/fleet_pb.ts";
import { OperationsService } from "../../../../gen/operations/v1/operations_pb.ts";
import { LVService } from "../../../../gen/proto/lvmd_pb.ts";
import { rpcErrorOf } from "../../harness/rpc-error.ts";
import {
  joinFleet,
  type MemberUnderTest,
  startHubUnderTest,
  startMemberUnderTest,
} from "../fleet-under-test.ts";

type SubscribeRequest = Parameters<Client<typeof EventService>["subscribe"]>[0];

const deviceClass = "sandbox-ssd";

/** Subscribes on a gateway's admin socket. The subscription ends with the gateway. */
function subscribe(member: MemberUnderTest, request: SubscribeRequest = {}) {
  const leaving = new AbortController();
  const stream = member.admin(EventService).subscribe(request, { signal: leaving.signal });
  const messages = stream[Symbol.asyncIterator]();
  return {
    leave: () => leaving.abort(),
    /** Resolves when the subscription has begun. */
    async begun(): Promise<void> {
      await messages.next();
    },
    /** Returns the next event that meets the condition, which may be the first one. */
    async next(isMet: (event: Event) => boolean): Promise<Event> {
      for (;;) {
        const { value } = await messages.next();
        if (value.message.case === "event" && isMet(value.message.value)) {
          return value.message.value;
        }
      }
    },
  };
}

function createVolume(member: MemberUnderTest, name: string) {
  return member.admin(LVService).createLV({ name, sizeGb: 1n, deviceClass });
}

const isCreated = ({ type }: Event) => type === "volume.created";

/** Resolves when the hub merges the events of a host: it changes volumes until the hub has an event of it. */
async function untilMerged(hub: MemberUnderTest, agent: MemberUnderTest, host: string): Promise<void> {
  const events = subscribe(hub, { fleetHosts: [host] });
  const first = events.next(() => true);
  const lv = agent.admin(LVService);
  do {
    await lv.createLV({ name: "probe", sizeGb: 1n, deviceClass });
    await lv.removeLV({ name: "probe", deviceClass });
  } while (!(await isSettledWithin(first, 200)));
  await first;
  events.leave();
}

test("a hub has the events of its hosts in its own log, with the name of the host", async (t) => {
  const hub = await startHubUnderTest(t);
  const agents = await Promise.all([
    startMemberUnderTest(t, { host: "one" }),
    startMemberUnderTest(t, { host: "two" }),
  ]);
  const all = subscribe(hub);
  await all.begun();
  await joinFleet(hub, agents[0], "node-1");
  await joinFleet(hub, agents[1], "node-2");
  t.match(await all.next(({ topic }) => topic === "fleet"), {
    type: "host.joined",
    resource: "hosts/node-1",
    fleetHost: "",
    host: "",
  });
  await untilMerged(hub, agents[0], "node-1");
  await untilMerged(hub, agents[1], "node-2");
  const second = subscribe(hub, { fleetHosts: ["node-2"] });
  await second.begun();
  await createVolume(agents[0], "first");
  await createVolume(agents[1], "second");
  const isOf = (name: string) => (event: Event) => isCreated(event) && event.resource.endsWith(`/${name}`);
  const first = await all.next(isOf("first"));
  t.match(first, {
    topic: "volumes",
    fleetHost: "node-1",
    host: "one",
    sandbox: true,
    detail: { case: "volume", value: { name: "first" } },
  });
  t.ok(first.fleetHostAt, "the time at the host");
  const hosts = new Set<string>();
  await second.next((event) => {
    hosts.add(event.fleetHost);
    return isOf("second")(event);
  });
  t.same([...hosts], ["node-2"], "of one host only");

  const resumed = subscribe(hub, { start: { case: "cursor", value: first.cursor } });
  t.match(await resumed.next(isCreated), { fleetHost: "node-2" }, "continues after a cursor of the hub");

  t.match(await rpcErrorOf(subscribe(hub, { fleetHosts: ["Node_1"] }).begun()), {
    code: "INVALID_ARGUMENT",
    reason: "INVALID_FIELD",
    message: /fleet_hosts\[0\]/,
  });
});

test("operations of a host have their facts", async (t) => {
  const hub = await startHubUnderTest(t);
  const agent = await startMemberUnderTest(t, { host: "one" });
  await joinFleet(hub, agent, "node-1");
  await untilMerged(hub, agent, "node-1");
  const operations = subscribe(hub, { topics: ["operations"] });
  await operations.begun();
  for await (const _message of agent.admin(OperationsService).createBackup({})) {
    // It ends with the operation.
  }
  const event = await operations.next(() => true);
  t.match(event, { type: "operation.changed", fleetHost: "node-1", detail: { case: "operation" } });
  t.equal(event.detail.case === "operation" && event.detail.value.id, event.operationId);
});

test("a removed host is no longer followed; a new host of its name is", async (t) => {
  const hub = await startHubUnderTest(t);
  const [agent, successor] = await Promise.all([
    startMemberUnderTest(t, { host: "one" }),
    startMemberUnderTest(t, { host: "two" }),
  ]);
  const all = subscribe(hub);
  await all.begun();
  await joinFleet(hub, agent, "node-1");
  await untilMerged(hub, agent, "node-1");
  await hub.admin(FleetService).removeHost({ name: "node-1" });
  await createVolume(agent, "unseen");
  const removed = await all.next(({ type }) => type === "host.removed");
  t.match(removed, { topic: "fleet", resource: "hosts/node-1", fleetHost: "" });
  await joinFleet(hub, successor, "node-1");
  await untilMerged(hub, successor, "node-1");
  await createVolume(successor, "seen");
  t.match(await all.next(isCreated), { host: "two", fleetHost: "node-1" }, "nothing of the removed host");
});
