import { test } from "tap";
import { EventType } from "../../../../../gen/v1alpha/api_pb.ts";
import { rpcErrorOf } from "../../../harness/rpc-error.ts";
import { has, listen, nowSeconds, runPod, typesOf } from "./listener-under-test.ts";
import { startPodEvents } from "./pod-events-under-test.ts";

test("a stream starts with an empty message, and reports pods, apps and images in rkt's terms", async (t) => {
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

test("types, ids and names must all match", async (t) => {
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

test("available events are sent in few messages, past ones too", async (t) => {
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

test("events of other hosts are not sent", async (t) => {
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

test("stopping the gateway ends a stream with the reason", async (t) => {
  const lab = await startPodEvents(t);
  const listener = listen(t, lab);
  await listener.until();
  await lab.events.close();
  t.match(await rpcErrorOf(listener.ended), { code: "UNAVAILABLE", reason: "SHUTTING_DOWN" });
});
