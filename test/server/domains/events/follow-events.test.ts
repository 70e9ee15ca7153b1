import { setImmediate as turn } from "node:timers/promises";
import { type Test, test } from "tap";
import type { FollowEventsResponse } from "../../../../gen/hostplane/v1/event_pb.ts";
import { anonymous } from "../../../../server/rpc/call/caller.ts";
import { type Protocol, protocols } from "../../harness/protocols.ts";
import { rpcErrorOf } from "../../harness/rpc-error.ts";
import { type EventsUnderTest, nameOf, startEventsUnderTest } from "./events-under-test.ts";

const [protocol] = protocols as readonly [Protocol, ...Protocol[]];

/** Follows the events of a gateway; it disconnects when the test ends. */
function follow(t: Test, { clientOf }: EventsUnderTest, cursor = "") {
  const leaving = new AbortController();
  t.teardown(async () => {
    leaving.abort();
    await turn();
  });
  const responses = clientOf(protocol)
    .followEvents({ cursor }, { signal: leaving.signal })
    [Symbol.asyncIterator]();
  async function next(): Promise<FollowEventsResponse> {
    const { value, done } = await responses.next();
    if (done === true) {
      throw new Error("the stream has ended");
    }
    return value;
  }
  return {
    next,
    /** Returns the names of the volumes of the next events, and the last cursor. */
    async names(count: number) {
      const names: string[] = [];
      let last = "";
      while (names.length < count) {
        const { events, cursor } = await next();
        names.push(...events.flatMap(({ event }) => (event === undefined ? [] : nameOf(event))));
        last = cursor;
      }
      return { names, cursor: last };
    },
  };
}

test("a hub gets the events from now on or after a cursor, with the services that give access", async (t) => {
  const gateway = await startEventsUnderTest(t);
  await gateway.append(["a", "b", "c"]);
  const fromNow = follow(t, gateway);
  t.match(await fromNow.next(), { events: [], cursor: gateway.events.cursorOf(3) });
  const after = follow(t, gateway, gateway.events.cursorOf(1));
  t.match(await after.next(), { events: [], cursor: gateway.events.cursorOf(1) });
  t.same(await after.names(2), { names: ["b", "c"], cursor: gateway.events.cursorOf(3) });
  await gateway.append(["d"], { operationId: "op-1" });
  t.match(await fromNow.next(), {
    cursor: gateway.events.cursorOf(4),
    events: [
      {
        services: ["proto.LVService"],
        event: {
          cursor: gateway.events.cursorOf(4),
          type: "volume.created",
          operationId: "op-1",
          fleetHost: "",
          detail: { case: "volume", value: { name: "d" } },
        },
      },
    ],
  });
  t.match(await rpcErrorOf(follow(t, gateway, "?").next()), {
    code: "INVALID_ARGUMENT",
    reason: "INVALID_FIELD",
  });
});

test("a hub gets neither the events of hosts nor those of services that the caller may not call", async (t) => {
  const caller = { ...anonymous, services: new Set(["proto.LVService"]) };
  const limited = { ...caller, current: () => limited } as typeof caller;
  const gateway = await startEventsUnderTest(t, { caller: limited });
  const { next } = follow(t, gateway, gateway.events.cursorOf(0));
  await next();
  await gateway.append(["a"], { ofHost: { name: "node-1", atMs: 0 } });
  await gateway.append(["b"], { services: ["stats.StatsService"] });
  await gateway.append(["c"]);
  const names: string[] = [];
  let cursor = "";
  while (cursor !== gateway.events.cursorOf(3)) {
    const response = await next();
    names.push(...response.events.flatMap(({ event }) => (event === undefined ? [] : nameOf(event))));
    ({ cursor } = response);
  }
  t.same(names, ["c"], "the cursor passes the others");
});

test("large events arrive in several batches, and one that is too large without its facts", async (t) => {
  const gateway = await startEventsUnderTest(t);
  const tagged = (name: string, bytes: number) => ({
    payload: { volume: { name, tags: ["x".repeat(bytes)] } },
  });
  const names = ["a", "b", "c", "d"];
  for (const name of names) {
    await gateway.append([name], tagged(name, 150_000));
  }
  await gateway.append(["e"], tagged("e", 300_000));
  const { next } = follow(t, gateway, gateway.events.cursorOf(0));
  await next();
  const batches: number[] = [];
  for (let count = 0; count < 5; ) {
    const { events } = await next();
    batches.push(events.length);
    count += events.length;
    if (count === 5) {
      t.match(events.at(-1), { event: { resource: /e$/, detail: { case: undefined } } });
    }
  }
  t.same(batches, [2, 2, 1]);
  t.match(gateway.warnings, [/without its facts/]);
});
