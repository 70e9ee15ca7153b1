import { setTimeout as sleep } from "node:timers/promises";
import { test } from "tap";
import type { Event } from "../../../../../gen/hostplane/v1/event_pb.ts";
import { EventType } from "../../../../../gen/v1alpha/api_pb.ts";
import { has, listen, nowSeconds, runPod, typesOf } from "./listener-under-test.ts";
import { startPodEvents } from "./pod-events-under-test.ts";

const waitUntil = (atMs: number) => sleep(Math.max(0, atMs - Date.now()));

const isRemoved =
  (name: string) =>
  ({ type, detail }: Event) =>
    type === "pod.removed" && detail.case === "pod" && detail.value.name === name;

/** Creates an event in its stored form. */
const podExited = (name: string, happenedMs: number) => ({
  topic: "pods",
  type: "pod.exited",
  resource: "pods/u",
  host: "alpha",
  services: ["v1alpha.PublicAPI"],
  payload: { pod: { id: "u", name, happenedAt: new Date(happenedMs).toISOString() } },
});

test("with a future end time the stream closes at that time, with a past one after all earlier events", async (t) => {
  const lab = await startPodEvents(t);
  await lab.observe();
  runPod(lab, "early");
  await lab.eventsUntil(0, isRemoved("early"));
  const until = nowSeconds() + 2n;
  const listener = listen(t, lab, { sinceTime: nowSeconds() - 60n, untilTime: until });
  // At once, so that it is in time even on a slow machine.
  runPod(lab, "in-time");
  await listener.until(has(EventType.POD_GARBAGE_COLLECTED, "in-time"));
  t.ok(has(EventType.POD_GARBAGE_COLLECTED, "early")(listener));
  await listener.ended;
  const lateMs = Date.now() - Number(until) * 1_000;
  t.ok(lateMs >= 0 && lateMs < 20_000, `closed ${lateMs} ms after`);
  runPod(lab, "late");
  await lab.eventsUntil(0, isRemoved("late"));
  const past = listen(t, lab, { untilTime: until });
  await past.ended;
  t.strictSame(
    typesOf(past.events()).filter((each) => each.startsWith("POD_PREPARED")),
    ["POD_PREPARED early", "POD_PREPARED in-time"],
  );
});

test("before a future start time only heartbeats are sent", async (t) => {
  const lab = await startPodEvents(t, { silenceMs: 50 });
  await lab.observe();
  const since = nowSeconds() + 2n;
  const listener = listen(t, lab, { sinceTime: since });
  runPod(lab, "early");
  await listener.until(({ messages }) => messages.length >= 4);
  t.strictSame(listener.events(), []);
  await waitUntil(Number(since) * 1_000 + 5);
  runPod(lab, "late");
  await listener.until(has(EventType.POD_GARBAGE_COLLECTED, "late"));
  t.notOk(has(EventType.POD_PREPARED, "early")(listener));
});

test("a start time before all kept events starts with the oldest one", async (t) => {
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
  t.equal(listener.events().length, old.events().length - 2, "one of them was a gap");
});

test("an event that is known half a second late is sent before the stream closes", async (t) => {
  const lab = await startPodEvents(t);
  const until = nowSeconds() + 1n;
  const untilMs = Number(until) * 1_000;
  const listener = listen(t, lab, { untilTime: until });
  await waitUntil(untilMs + 500);
  await lab.store.run("events.append", { events: [podExited("late", untilMs - 1)] });
  await listener.ended;
  t.strictSame(typesOf(listener.events()), ["POD_EXITED late"]);
});

test("an event stored long after it happened is found by its time", async (t) => {
  const lab = await startPodEvents(t);
  const happenedMs = Date.now() - 86_400_000;
  await lab.store.run("events.append", { events: [podExited("web", happenedMs)] });
  const hourAfter = BigInt(Math.floor(happenedMs / 1_000)) + 3_600n;
  const past = listen(t, lab, { untilTime: hourAfter });
  await past.ended;
  t.strictSame(typesOf(past.events()), ["POD_EXITED web"]);
});
