import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { type Test, test } from "tap";
import {
  type Event,
  EventFilterSchema,
  EventType,
  type ListenEventsResponse,
} from "../../../../../gen/v1alpha/api_pb.ts";
import { parseListenRequest } from "../../../../../server/domains/pods/events/listen-request.ts";
import { rktEventFrom } from "../../../../../server/domains/pods/events/rkt-events.ts";
import { rpcErrorOf } from "../../../rpc-error.ts";
import { createPod, type PodEventsUnderTest, startPodEvents } from "./pod-events-under-test.ts";

type Filter = Parameters<PodEventsUnderTest["publicApi"]["listenEvents"]>[0]["filter"];

interface Listener {
  readonly messages: readonly ListenEventsResponse[];
  events(): readonly Event[];
  /** Waits for the first message, or for what is wanted. */
  until(isReached?: (listener: Listener) => boolean): Promise<void>;
  /** Settles when the stream has ended. */
  readonly ended: Promise<void>;
}

/** Listens until the test ends. */
function listen(t: Test, { publicApi }: PodEventsUnderTest, filter: NonNullable<Filter> = {}): Listener {
  const leaving = new AbortController();
  t.teardown(() => leaving.abort());
  const messages: ListenEventsResponse[] = [];
  let wake = () => {};
  const ended = (async () => {
    for await (const message of publicApi.listenEvents({ filter }, { signal: leaving.signal })) {
      messages.push(message);
      wake();
    }
  })();
  ended.catch(() => {});
  const listener: Listener = {
    messages,
    events: () => messages.flatMap(({ events }) => events),
    async until(isReached = () => messages.length > 0) {
      while (!isReached(listener)) {
        await Promise.race([
          new Promise<void>((resolve) => {
            wake = resolve;
          }),
          ended,
        ]);
      }
    },
    ended,
  };
  return listener;
}

const has = (type: EventType, from: string) => (listener: Listener) =>
  listener.events().some((event) => event.type === type && event.from === from);

const typeNames = new Map<number, string>(Object.entries(EventType).map(([name, type]) => [type, name]));
const typesOf = (events: readonly Event[]) =>
  events.map(({ type, from }) => `${typeNames.get(type)} ${from}`);
const nowSeconds = () => BigInt(Math.floor(Date.now() / 1_000));

/** Runs a pod and removes it. */
function runPod({ runtime }: PodEventsUnderTest, name: string): string {
  const { id } = createPod(runtime, name);
  runtime.pods.startPod(id);
  runtime.pods.endPod(id, 3);
  runtime.pods.removePod(id, false);
  return id;
}

test("a stream opens with an empty message, and tells pods, apps and images in the words of rkt", async (t) => {
  const lab = await startPodEvents(t);
  await lab.observe();
  const listener = listen(t, lab);
  await listener.until();
  t.strictSame(listener.messages[0]?.events, []);
  const before = nowSeconds();
  runPod(lab, "web");
  const imageId = lab.runtime.pods.addImage("localhost/test/added:1");
  await listener.until(has(EventType.IMAGE_IMPORTED, "localhost/test/added:1"));
  lab.runtime.pods.removeImage(imageId, false);
  await listener.until(has(EventType.IMAGE_REMOVED, "localhost/test/added:1"));
  const events = listener.events();
  t.strictSame(typesOf(events), [
    "POD_PREPARED web",
    "POD_STARTED web",
    "APP_STARTED app",
    "APP_EXITED app",
    "POD_EXITED web",
    "POD_GARBAGE_COLLECTED web",
    "IMAGE_IMPORTED localhost/test/added:1",
    "IMAGE_REMOVED localhost/test/added:1",
  ]);
  t.ok(events.every(({ time }) => time >= before && time <= nowSeconds()));
  const uuids = new Set(events.slice(0, 6).map(({ id }) => id));
  t.equal(uuids.size, 1);
  t.match(events[6]?.id, imageId);
  const data = events[3]?.data.map(({ Key, value }) => [Key, value]);
  t.match(data, [
    ["pod", "web"],
    ["container_id", /^[0-9a-f]{64}$/],
    ["exit_code", "3"],
  ]);
});

test("types, ids and names must all fit", async (t) => {
  const lab = await startPodEvents(t);
  await lab.observe();
  const id = runPod(lab, "first");
  const all = listen(t, lab, { sinceTime: nowSeconds() - 5n });
  await all.until(has(EventType.POD_GARBAGE_COLLECTED, "first"));
  const uuid = all.events()[0]?.id ?? "";
  t.equal(uuid.replaceAll("-", ""), id.slice(0, 32));
  const since = { sinceTime: nowSeconds() - 5n };
  const some = listen(t, lab, {
    ...since,
    ids: [uuid, "other"],
    types: [EventType.APP_EXITED, EventType.POD_EXITED],
  });
  const named = listen(t, lab, { ...since, ids: [uuid], names: ["app"] });
  const other = listen(t, lab, { ...since, ids: [uuid], names: ["web"] });
  runPod(lab, "web");
  await all.until(has(EventType.POD_GARBAGE_COLLECTED, "web"));
  await some.until(has(EventType.POD_EXITED, "first"));
  await named.until(has(EventType.APP_EXITED, "app"));
  t.strictSame(typesOf(some.events()), ["APP_EXITED app", "POD_EXITED first"]);
  t.strictSame(typesOf(named.events()), ["APP_STARTED app", "APP_EXITED app"]);
  t.strictSame(other.events(), []);
});

test("what is there is told in few messages, also what happened before", async (t) => {
  const lab = await startPodEvents(t);
  await lab.observe();
  const live = listen(t, lab);
  await live.until();
  for (let number = 0; number < 40; number += 1) {
    runPod(lab, `pod-${number}`);
  }
  await live.until(has(EventType.POD_GARBAGE_COLLECTED, "pod-39"));
  const later = listen(t, lab, { sinceTime: nowSeconds() - 60n });
  await later.until(has(EventType.POD_GARBAGE_COLLECTED, "pod-39"));
  t.strictSame(later.events(), live.events());
  t.equal(later.events().length, 240);
  t.ok(later.messages.length < 20, `${later.messages.length} messages`);
  t.ok(later.messages.every(({ events }) => events.length <= 100));
});

test("a time that is to come has the stream closed then, one that is past when all before it is told", async (t) => {
  const lab = await startPodEvents(t);
  await lab.observe();
  runPod(lab, "early");
  const until = nowSeconds() + 2n;
  const listener = listen(t, lab, { sinceTime: nowSeconds() - 10n, untilTime: until });
  await listener.until(has(EventType.POD_GARBAGE_COLLECTED, "early"));
  runPod(lab, "in-time");
  await listener.until(has(EventType.POD_GARBAGE_COLLECTED, "in-time"));
  await listener.ended;
  const lateMs = Date.now() - Number(until) * 1_000;
  t.ok(lateMs >= 0 && lateMs < 2_500, `closed ${lateMs} ms after`);
  runPod(lab, "late");
  await lab.eventsUntil(
    0,
    ({ type, detail }) => type === "pod.removed" && detail.case === "pod" && detail.value.name === "late",
  );
  const past = listen(t, lab, { untilTime: until });
  await past.ended;
  t.strictSame(
    typesOf(past.events()).filter((each) => each.startsWith("POD_PREPARED")),
    ["POD_PREPARED early", "POD_PREPARED in-time"],
  );
});

test("until a time that is to come nothing is told, but that the stream lives", async (t) => {
  const lab = await startPodEvents(t, { silenceMs: 50 });
  await lab.observe();
  const since = nowSeconds() + 2n;
  const listener = listen(t, lab, { sinceTime: since });
  await listener.until();
  runPod(lab, "early");
  await listener.until(({ messages }) => messages.length >= 4);
  t.strictSame(listener.events(), []);
  await new Promise((resolve) => setTimeout(resolve, Number(since) * 1_000 - Date.now() + 5));
  runPod(lab, "late");
  await listener.until(has(EventType.POD_GARBAGE_COLLECTED, "late"));
  t.notOk(has(EventType.POD_PREPARED, "early")(listener));
});

test("a time before everything that is kept begins with the oldest that is", async (t) => {
  const lab = await startPodEvents(t);
  await lab.observe();
  runPod(lab, "first");
  const old = listen(t, lab, { sinceTime: 1n });
  await old.until(has(EventType.POD_GARBAGE_COLLECTED, "first"));
  await new Promise((resolve) => setTimeout(resolve, 20));
  const { count } = await lab.store.run("events.purge", { keepMs: 0, limit: 3 });
  t.equal(count, 3);
  const listener = listen(t, lab, { sinceTime: 1n });
  await listener.until(has(EventType.POD_GARBAGE_COLLECTED, "first"));
  t.equal(listener.events().length, old.events().length - 2, "a gap was the first of them");
});

test("events of another host are not told", async (t) => {
  const lab = await startPodEvents(t);
  const listener = listen(t, lab);
  await listener.until();
  const pod = (name: string, host: string) => ({
    topic: "pods",
    type: "pod.created",
    resource: "pods/u",
    host,
    services: ["v1alpha.PublicAPI"],
    payload: { pod: { id: "u", name, happenedAt: "2026-01-31T00:00:00.000000001Z" } },
  });
  await lab.store.run("events.append", { events: [pod("there", "beta"), pod("here", "alpha")] });
  await listener.until(has(EventType.POD_PREPARED, "here"));
  t.equal(listener.events().length, 1);
  t.equal(listener.events()[0]?.time, 1_769_817_600n);
});

test("a filter that means nothing is refused by its field", async (t) => {
  const lab = await startPodEvents(t);
  const errorOf = async (filter: NonNullable<Filter>) => {
    const [first] = [lab.publicApi.listenEvents({ filter })[Symbol.asyncIterator]()];
    return rpcErrorOf(first?.next() ?? Promise.resolve());
  };
  const refused = (field: string) => ({ code: "INVALID_ARGUMENT", reason: "INVALID_FIELD", fields: [field] });
  t.match(await errorOf({ sinceTime: -1n }), refused("filter.since_time"));
  t.match(await errorOf({ untilTime: 2n ** 62n }), refused("filter.until_time"));
  t.match(await errorOf({ sinceTime: 9n, untilTime: 9n }), refused("filter.until_time"));
  t.match(await errorOf({ types: [EventType.POD_STARTED, 99 as EventType] }), refused("filter.types[1]"));
  t.match(await errorOf({ types: [EventType.UNDEFINED] }), refused("filter.types[0]"));
  t.match(await errorOf({ ids: Array.from({ length: 1_001 }, () => "x") }), refused("filter.ids"));
  t.match(await errorOf({ names: [""] }), refused("filter.names[0]"));
});

test("any filter is read or refused by a field, and any event is told or left out", async (t) => {
  fc.assert(
    fc.property(
      fc.record({
        types: fc.array(fc.integer({ min: -2, max: 12 })),
        ids: fc.array(fc.string()),
        names: fc.array(fc.string()),
        sinceTime: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
        untilTime: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      }),
      (filter) => {
        try {
          parseListenRequest(create(EventFilterSchema, filter as object));
          return true;
        } catch (error) {
          return error instanceof Error && "reason" in error && error.reason === "INVALID_FIELD";
        }
      },
    ),
  );
  fc.assert(
    fc.property(fc.constantFrom("pod.created", "image.added", "gap"), fc.jsonValue(), (type, payload) => {
      const told = rktEventFrom({ type, payload });
      return told === undefined || told.event.from !== "" || told.event.id === "";
    }),
  );
  t.equal(rktEventFrom({ type: "pod.sneezed", payload: {} }), undefined);
});

test("the gateway's stop ends a stream with its reason", async (t) => {
  const lab = await startPodEvents(t);
  const listener = listen(t, lab);
  await listener.until();
  await lab.events.close();
  t.match(await rpcErrorOf(listener.ended), { code: "UNAVAILABLE", reason: "SHUTTING_DOWN" });
});
