import type { Client } from "@connectrpc/connect";
import { type Test, test } from "tap";
import { type Event, EventService } from "../../../../gen/hostplane/v1/event_pb.ts";
import { FleetService } from "../../../../gen/hostplane/v1/fleet_pb.ts";
import { OperationService } from "../../../../gen/hostplane/v1/operation_pb.ts";
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

/** Subscribes on a gateway's admin socket. The subscription ends with the test. */
function subscribe(t: Test, member: MemberUnderTest, request: SubscribeRequest = {}) {
  const leaving = new AbortController();
  t.teardown(() => leaving.abort());
  const stream = member.admin(EventService).subscribe(request, { signal: leaving.signal });
  const messages = stream[Symbol.asyncIterator]();
  return {
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
  return member.admin(LVService).createLV({ name, sizeGb: 1n, deviceClass: "sandbox-ssd" });
}

const isCreated = ({ type }: Event) => type === "volume.created";

/** Resolves when the hub merges the events of a host: an event of the host has arrived. */
async function untilMerged(hub: MemberUnderTest, agent: MemberUnderTest, host: string): Promise<void> {
  const stream = hub.admin(EventService).subscribe({ fleetHosts: [host] });
  let count = 0;
  const creating = setInterval(() => {
    count += 1;
    createVolume(agent, `probe-${count}`).catch(() => {});
  }, 100);
  try {
    for await (const { message } of stream) {
      if (message.case === "event") {
        return;
      }
    }
  } finally {
    clearInterval(creating);
  }
}

test("a hub has the events of its hosts in its own log, with the name of the host", async (t) => {
  const hub = await startHubUnderTest(t);
  const agents = await Promise.all([
    startMemberUnderTest(t, { host: "one" }),
    startMemberUnderTest(t, { host: "two" }),
  ]);
  const all = subscribe(t, hub);
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
  const second = subscribe(t, hub, { fleetHosts: ["node-2"] });
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
  t.match(await second.next(({ fleetHost }) => fleetHost !== ""), { fleetHost: "node-2" });
  t.match(await second.next(isOf("second")), { fleetHost: "node-2" }, "of one host only");

  const resumed = subscribe(t, hub, { start: { case: "cursor", value: first.cursor } });
  t.match(await resumed.next(isCreated), { fleetHost: "node-2" }, "continues after a cursor of the hub");

  t.match(await rpcErrorOf(subscribe(t, hub, { fleetHosts: ["Node_1"] }).begun()), {
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
  const operations = subscribe(t, hub, { topics: ["operations"] });
  await operations.begun();
  for await (const _message of agent.admin(OperationsService).createBackup({})) {
    // It ends with the operation.
  }
  const event = await operations.next(() => true);
  t.match(event, { type: "operation.changed", fleetHost: "node-1", detail: { case: "operation" } });
  t.equal(event.detail.case === "operation" && event.detail.value.id, event.operationId);
  t.match(
    await rpcErrorOf(
      hub.admin(OperationService).watchOperation({ id: event.operationId })[Symbol.asyncIterator]().next(),
    ),
    { reason: "OPERATION_NOT_FOUND" },
    "it is no operation of the hub",
  );
});

test("a removed host is no longer followed; a new host of its name is", async (t) => {
  const hub = await startHubUnderTest(t);
  const [agent, successor] = await Promise.all([
    startMemberUnderTest(t, { host: "one" }),
    startMemberUnderTest(t, { host: "two" }),
  ]);
  const all = subscribe(t, hub);
  await all.begun();
  await joinFleet(hub, agent, "node-1");
  await untilMerged(hub, agent, "node-1");
  await hub.admin(FleetService).removeHost({ name: "node-1" });
  await createVolume(agent, "unseen");
  const removed = await all.next(({ type }) => type === "host.removed");
  t.match(removed, { topic: "fleet", resource: "hosts/node-1", fleetHost: "" });
  await joinFleet(hub, successor, "node-1");
  await untilMerged(hub, successor, "node-1");
  t.match(await all.next(isCreated), { host: "two", fleetHost: "node-1" }, "nothing of the removed host");
});
