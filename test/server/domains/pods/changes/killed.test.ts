import { type Test, test } from "tap";
import type { PodmanSandbox } from "../../../../../adapters/podman/sandbox.ts";
import type { Operation } from "../../../../../server/operations/operation.ts";
import type { Store } from "../../../../../server/store/store.ts";
import { createSteppedClock } from "../../../../adapters/sandbox/stepped-clock.ts";
import { isLongForm } from "../../../../long-form.ts";
import { deathAt } from "../../../operations/death-at.ts";
import { createMortalStore } from "../../../operations/engine-under-test.ts";
import { openOwnStore } from "../../../store/own-store.ts";
import {
  type ChangesUnderTest,
  createChangesUnderTest,
  createRuntime,
  leftOf,
} from "./changes-under-test.ts";

type Left = Awaited<ReturnType<typeof leftOf>>;

const untouched: Left = { pods: ["new created", "web running"], images: [] };
const pulled = "docker.io/library/busybox:1.35";

interface Story {
  readonly name: string;
  readonly begin: (changes: ChangesUnderTest) => Promise<Operation>;
  readonly done: Left;
}

const stories: readonly Story[] = [
  {
    name: "a start",
    begin: (changes) => changes.begin("startPod", { pod: "new" }),
    done: { ...untouched, pods: ["new running", "web running"] },
  },
  {
    name: "a stop",
    begin: (changes) => changes.begin("stopPod", { pod: "web" }),
    done: { ...untouched, pods: ["new created", "web exited"] },
  },
  {
    name: "a kill",
    begin: (changes) => changes.begin("killPod", { pod: "web" }),
    done: { ...untouched, pods: ["new created", "web exited"] },
  },
  {
    name: "a removal",
    begin: (changes) => changes.begin("removePod", { pod: "web", force: true }),
    done: { ...untouched, pods: ["new created"] },
  },
  {
    name: "a pull",
    begin: (changes) => changes.begin("pullImage", { reference: pulled }),
    done: { ...untouched, images: [pulled] },
  },
];

/** Runs a story with a gateway that dies at its boundary number `dieAt`; another gateway takes over. */
async function runStory(t: Test, store: Store, story: Story, dieAt: number, isCancelled: boolean) {
  const runtime: PodmanSandbox = createRuntime(t);
  const at = { runtime, host: `host-${dieAt}-${isCancelled}` };
  const requester = createChangesUnderTest(t, { ...at, store, isIdle: true });
  const started = await story.begin(requester);
  const mortal = createMortalStore(store);
  const { died, boundary } = deathAt(mortal, dieAt);
  createChangesUnderTest(t, {
    ...at,
    store: mortal,
    boundary,
  });
  const ended = requester.end(started);
  const place = await Promise.race([died, ended.then(() => undefined)]);
  if (place !== undefined) {
    if (isCancelled) {
      await requester.operations.cancel(started.id).catch(() => {});
    }
    const heir = createChangesUnderTest(t, { ...at, store });
    await ended;
    await heir.close();
  }
  return { operation: await ended, place, left: await leftOf(runtime) };
}

for (const story of stories) {
  for (const isCancelled of [false, true]) {
    const when = isCancelled ? ", even if it is cancelled while no gateway is running" : "";
    test(`${story.name} ends in a consistent state wherever its gateway dies${when}`, async (t) => {
      const store = await openOwnStore(t);
      for (let dieAt = 1; ; dieAt += 1) {
        const { operation, place, left } = await runStory(t, store, story, dieAt, isCancelled);
        const where = `killed at ${place ?? "nowhere"}`;
        t.match(
          operation.state,
          isCancelled ? /^(completed|cancelled|needsAttention)$/ : /^completed$/,
          where,
        );
        // Changes that cannot be reverted are reported; a pull that was completed leaves its image.
        const isPull = operation.kind === "images.pull";
        const isDone = JSON.stringify(left) === JSON.stringify(story.done);
        // A pod that was started and stopped again is exited instead of created.
        const pods = left.pods.map((each) => each.replace(/^new exited$/, "new created"));
        t.same({ ...left, pods }, isDone ? story.done : untouched, where);
        t.equal(
          operation.state === "cancelled",
          !isDone || (isPull && operation.state === "cancelled"),
          where,
        );
        if (place === undefined) {
          t.ok(dieAt > (isLongForm ? 5 : 1), `${dieAt - 1} boundaries`);
          return;
        }
      }
    });
  }
}

async function untilIn({ operations }: ChangesUnderTest, { id }: Operation, step: string): Promise<void> {
  while ((await operations.get(id)).step !== step) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("a running pull can be cancelled, and reports its progress", async (t) => {
  const runtime = createRuntime(t, { pullMs: 60_000 });
  const store = await openOwnStore(t);
  const changes = createChangesUnderTest(t, { runtime, store });
  const started = await changes.begin("pullImage", { reference: pulled });
  await new Promise<void>((resolve) => {
    const unsubscribe = store.subscribe("events", async () => {
      const { message } = await changes.operations.get(started.id);
      if (message === `Trying to pull ${pulled}...`) {
        unsubscribe();
        resolve();
      }
    });
  });
  await changes.operations.cancel(started.id);
  t.match(await changes.end(started), { state: "cancelled" });
  t.same((await leftOf(runtime)).images, []);
});

test("stopping the gateway does not wait for a grace period or a pull, and its successor continues both", async (t) => {
  const runtime = createRuntime(t, { pullMs: 1, stopMs: 1, clock: createSteppedClock() });
  const store = await openOwnStore(t);
  const first = createChangesUnderTest(t, { runtime, store });
  const stop = await first.begin("stopPod", { pod: "web", graceSeconds: 3_600 });
  const pull = await first.begin("pullImage", { reference: pulled });
  await untilIn(first, stop, "stop");
  await untilIn(first, pull, "pull");
  // The clock stands still, so both would last for ever.
  await first.close();
  const quick = createRuntime(t);
  const heir = createChangesUnderTest(t, { runtime: quick, store });
  t.match(await heir.end(stop), { state: "completed", steps: [{ attempt: 1 }, { attempt: 2 }] });
  t.match(await heir.end(pull), { state: "completed", steps: [{ attempt: 2 }] });
  t.same(await leftOf(quick), { pods: ["new created", "web exited"], images: [pulled] });
});

test("a stop that is cancelled while it is running is completed", async (t) => {
  const runtime = createRuntime(t, { stopMs: 300 });
  const store = await openOwnStore(t);
  const changes = createChangesUnderTest(t, { runtime, store });
  const started = await changes.begin("stopPod", { pod: "web" });
  await untilIn(changes, started, "stop");
  await changes.operations.cancel(started.id);
  t.match(await changes.end(started), { state: "completed" });
  t.match(await leftOf(runtime), { pods: ["new created", "web exited"] });
});
