import { mock } from "node:test";
import { durationMs } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import { type Test, test } from "tap";
import { type WatchEventsOptions, watchEvents } from "../../../client/watch-events.ts";
import type { EventService, SubscribeRequest } from "../../../gen/hostplane/v1/event_pb.ts";

type Subscribe = Client<typeof EventService>["subscribe"];
type EventStream = typeof import("../../../dashboard/live/event-stream.ts");

/** Lets pending promises settle: none of them waits for a real timer, because the clock is mocked. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) {
    await new Promise(setImmediate);
  }
}

/** Creates a gateway that sends a first message and then one per call of `beat`; each connection ends with its signal. */
function createSilentGateway() {
  const requests: Partial<SubscribeRequest>[] = [];
  let answers = true;
  let wake = () => {};
  const heartbeat = { message: { case: "heartbeat", value: { cursor: "c" } } };
  const subscribe = async function* (
    request: Partial<SubscribeRequest>,
    { signal }: { readonly signal: AbortSignal },
  ) {
    requests.push(request);
    if (answers) {
      yield heartbeat;
    }
    for (;;) {
      await new Promise<void>((resolve, reject) => {
        wake = resolve;
        signal.addEventListener("abort", () => reject(signal.reason));
      });
      yield heartbeat;
    }
  };
  return {
    requests,
    subscribe: subscribe as unknown as Subscribe,
    beat: () => wake(),
    /** Later connections get no message. */
    hang: () => {
      answers = false;
    },
  };
}

async function followOn(t: Test, gateway: ReturnType<typeof createSilentGateway>): Promise<EventStream> {
  const global = globalThis as unknown as Record<string, unknown>;
  global.document = Object.assign(new EventTarget(), { visibilityState: "visible" });
  global.location = { origin: "http://localhost" };
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
  t.teardown(() => {
    mock.timers.reset();
    delete global.document;
    delete global.location;
  });
  const events = { subscribe: gateway.subscribe } as unknown as Client<typeof EventService>;
  const { client } = await import("../../../dashboard/session.ts");
  t.intercept(client, "events", { value: events });
  t.intercept(client, "watchEvents", {
    value: (options: WatchEventsOptions) => watchEvents(events, options),
  });
  const stream = await import("../../../dashboard/live/event-stream.ts");
  const stop = stream.followEvents();
  t.teardown(stop);
  await settle();
  return stream;
}

test("a hanging gateway is no longer shown as live after five seconds", async (t) => {
  const gateway = createSilentGateway();
  const { connection } = await followOn(t, gateway);
  t.equal(connection.value.state, "live");
  gateway.hang();
  mock.timers.tick(4_000);
  await settle();
  t.equal(connection.value.state, "live", "a heartbeat may be late");
  mock.timers.tick(1_000);
  await settle();
  const heardAtMs = Date.now() - 5_000;
  t.same(connection.value, { state: "connecting", sinceMs: heardAtMs });
  mock.timers.tick(5_000);
  await settle();
  t.match(connection.value, { state: "lost", sinceMs: heardAtMs });
});

test("a quiet gateway is shown as live, because it sends a heartbeat within three seconds", async (t) => {
  const gateway = createSilentGateway();
  const { connection } = await followOn(t, gateway);
  // The gateway checks once a second whether a heartbeat is due.
  const { heartbeatAfter } = gateway.requests.at(-1) ?? {};
  t.ok(heartbeatAfter !== undefined && durationMs(heartbeatAfter) + 1_000 <= 3_000);
  const before = gateway.requests.length;
  for (let beats = 0; beats < 20; beats += 1) {
    mock.timers.tick(3_000);
    await settle();
    t.equal(connection.value.state, "live");
    gateway.beat();
    await settle();
  }
  t.equal(gateway.requests.length, before, "on the same connection");
});
