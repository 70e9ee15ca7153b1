import { type Test, test } from "tap";
import type { EventPlace, PodRuntime, RuntimeEvent } from "../../../adapters/podman/adapter.ts";
import { listen } from "./contract.ts";
import { createFakeRecords, idsOf, recordLife, startFakeService } from "./fake-events.ts";

const life = [
  "podCreated",
  "containerCreated",
  "containerStarted",
  "containerExited",
  "containerRemoved",
  "podRemoved",
];

const kindsOf = (events: readonly RuntimeEvent[]) => events.map(({ kind }) => kind);

/** Follows the events after a place, until the test ends. */
function follow(t: Test, runtime: PodRuntime, after: EventPlace) {
  const leaving = new AbortController();
  const batches = runtime.events({ after }, leaving.signal)[Symbol.asyncIterator]();
  t.teardown(async () => {
    leaving.abort();
    await batches.return?.();
  });
  return async () => {
    const { value } = await batches.next();
    return (value ?? []) as readonly RuntimeEvent[];
  };
}

const nowhere = (): EventPlace => ({ key: "", timeNs: BigInt(Date.now()) * 1_000_000n });

/** Returns the place of the last recorded event. */
async function lastOf(runtime: PodRuntime): Promise<EventPlace> {
  const last = (await runtime.history({ sinceNs: 0n, untilNs: 1n << 80n })).at(-1);
  if (last === undefined) {
    throw new Error("nothing is recorded");
  }
  return last;
}

test("events from before the place are not repeated when the stream delivers them later", async (t) => {
  const records = createFakeRecords();
  const { runtime, setHeld } = await startFakeService(t, records);
  await follow(t, runtime, nowhere())();
  setHeld(true);
  recordLife(records, 1);
  const next = follow(t, runtime, await lastOf(runtime));
  t.strictSame(await next(), []);
  setHeld(false);
  recordLife(records, 2);
  const reported: RuntimeEvent[] = [];
  while (reported.at(-1)?.kind !== "podRemoved") {
    reported.push(...(await next()));
  }
  t.strictSame(kindsOf(reported), life);
  t.ok(reported.every((event) => "podId" in event && event.podId === idsOf(2).podId));
});

test("events recorded seconds before a runtime starts to follow are not reported as new", async (t) => {
  const records = createFakeRecords();
  records.setClock(-5_500);
  recordLife(records, 1);
  records.setClock(-1_000);
  recordLife(records, 2);
  records.setClock(0);
  const place = await lastOf((await startFakeService(t, records)).runtime);
  const { runtime } = await startFakeService(t, records);
  const next = follow(t, runtime, place);
  t.strictSame(await next(), []);
  recordLife(records, 3);
  const [event] = await next();
  t.match(event, { kind: "podCreated", podId: idsOf(3).podId });
});

test("events recorded while the stream was lost are reported once, even if they were read meanwhile", async (t) => {
  const records = createFakeRecords();
  const service = await startFakeService(t, records);
  const { runtime } = service;
  const listener = listen(t, runtime);
  await follow(t, runtime, nowhere())();
  recordLife(records, 1);
  await listener.until((events) => events.length === life.length);
  const place = await lastOf(runtime);
  service.breakStreams();
  recordLife(records, 2);
  const next = follow(t, runtime, place);
  t.strictSame(kindsOf(await next()), life);
  await listener.until((events) => events.length === 2 * life.length);
  recordLife(records, 3);
  const [event] = await next();
  t.match(event, { kind: "podCreated", podId: idsOf(3).podId });
  await listener.until((events) => events.length >= 3 * life.length);
  t.strictSame(kindsOf(listener.events()), [...life, ...life, ...life]);
});

test("no event is lost when the clock is set back while the stream is lost", async (t) => {
  const records = createFakeRecords();
  const service = await startFakeService(t, records);
  const listener = listen(t, service.runtime);
  await follow(t, service.runtime, nowhere())();
  records.setClock(3_600_000);
  recordLife(records, 1);
  await listener.until((events) => events.length === life.length);
  const place = await lastOf(service.runtime);
  records.setClock(0);
  service.breakStreams();
  recordLife(records, 2);
  await listener.until((events) => events.length === 2 * life.length);
  t.strictSame(kindsOf(listener.events()), [...life, ...life]);
  t.strictSame(kindsOf(await follow(t, service.runtime, place)()), life);
  service.breakStreams();
  recordLife(records, 3);
  await listener.until((events) => events.length === 3 * life.length);
});

test("a gap has the place of its end, even if nothing is recorded about pods", async (t) => {
  const records = createFakeRecords();
  const { runtime } = await startFakeService(t, records);
  const [empty] = await follow(t, runtime, nowhere())();
  t.match(empty, { kind: "gap", place: undefined });
  records.record("container", "create", idsOf(1).containerId, { name: "alone" });
  const [gap] = await follow(t, runtime, nowhere())();
  const place = gap?.kind === "gap" ? gap.place : undefined;
  t.type(place?.key, "string");
  t.strictSame(await follow(t, runtime, place ?? nowhere())(), []);
  records.forget();
  recordLife(records, 2);
  const later = await follow(t, runtime, place ?? nowhere())();
  t.strictSame(kindsOf(later), ["gap", ...life]);
});
