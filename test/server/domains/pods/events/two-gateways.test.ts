import { type Test, test } from "tap";
import { uuidFromPodId } from "../../../../../adapters/podman/parse/parse-pod.ts";
import { createOwnChanges } from "../../../../../server/domains/pods/events/own-changes.ts";
import { createPodObserver } from "../../../../../server/domains/pods/events/pod-observer.ts";
import type { Store } from "../../../../../server/store/store.ts";
import {
  createFakeRecords,
  type FakeRecords,
  idsOf,
  recordLife,
  startFakeService,
} from "../../../../adapters/podman/fake-events.ts";
import { openOwnStore } from "../../../store/own-store.ts";

const life = [
  "pod.created",
  "pod.started",
  "container.started",
  "container.exited",
  "pod.exited",
  "pod.removed",
].sort();

/** Opens a store that records the events written to it. */
async function openReportingStore(t: Test) {
  const store = await openOwnStore(t);
  const reported: string[] = [];
  const run: Store["run"] = (name, args) => {
    const running = store.run(name, args);
    if (name === "observed.write") {
      const { events } = args as Parameters<typeof store.run<"observed.write">>[1];
      const words = events.map(({ type, resource }) => `${type} ${resource}`);
      running.then((result) => {
        const { ok } = result as { readonly ok: boolean };
        reported.push(...(ok ? words : []));
      }, t.fail);
    }
    return running;
  };
  return { store: { run }, reported };
}

async function startGateway(t: Test, records: FakeRecords, store: Pick<Store, "run">) {
  const service = await startFakeService(t, records);
  const onFailed = (error: unknown) => t.fail(String(error));
  const own = createOwnChanges();
  const options = { runtime: service.runtime, own, store, host: "alpha", onFailed, settleMs: 20 };
  const { close } = createPodObserver(options).begin();
  t.teardown(close);
  return { ...service, close };
}

async function untilTrue(isReached: () => boolean): Promise<void> {
  while (!isReached()) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function reportedOf(reported: readonly string[], number: number): readonly (string | undefined)[] {
  const uuid = uuidFromPodId(idsOf(number).podId);
  return reported
    .filter((words) => words.includes(uuid))
    .map((words) => words.split(" ")[0])
    .sort();
}

test("with two gateways on one store that learn of the same events at different times, each event is reported once", async (t) => {
  const records = createFakeRecords();
  const { store, reported } = await openReportingStore(t);
  recordLife(records, 1_000);
  const early = await startGateway(t, records, store);
  await untilTrue(() => reported.length === 1);
  const late = await startGateway(t, records, store);
  // It reads twice: once for what was reported before it came, and once for what it has missed.
  await untilTrue(() => late.readings() >= 2);
  for (let number = 0; number < 20; number += 1) {
    const [first, second] = number % 2 === 0 ? [early, late] : [late, early];
    const readings = second.readings();
    second.setHeld(true);
    recordLife(records, 2 * number);
    await untilTrue(() => reportedOf(reported, 2 * number).length >= life.length);
    // A single event wakes the second gateway, which finds in the store that everything was reported. The rest arrives
    // afterwards.
    second.emitOne();
    await untilTrue(() => second.readings() > readings);
    first.setHeld(true);
    recordLife(records, 2 * number + 1);
    second.setHeld(false);
    await untilTrue(() => reportedOf(reported, 2 * number + 1).length >= life.length);
    first.setHeld(false);
  }
  for (let number = 0; number < 40; number += 1) {
    t.strictSame(reportedOf(reported, number), life, `pod ${number}`);
  }
});

test("a restarted gateway reports no gap when the record contains nothing about pods", async (t) => {
  const records = createFakeRecords();
  const { store, reported } = await openReportingStore(t);
  records.record("container", "create", idsOf(1).containerId, { name: "alone" });
  const first = await startGateway(t, records, store);
  await untilTrue(() => reported.length === 1);
  await first.close();
  records.record("container", "remove", idsOf(1).containerId, { name: "alone" });
  const second = await startGateway(t, records, store);
  await untilTrue(() => second.readings() >= 2);
  recordLife(records, 2);
  await untilTrue(() => reportedOf(reported, 2).length === life.length);
  t.strictSame(
    reported.filter((words) => words.startsWith("gap")),
    ["gap pods"],
    "the gap of the first start",
  );
});
