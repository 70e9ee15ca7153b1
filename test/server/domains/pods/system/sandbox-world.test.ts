import { type Test, test } from "tap";
import { openSandboxPods } from "../../../../../server/domains/pods/system/open-sandbox.ts";
import { createWorldUnderTest } from "../../../sandbox/demo-world-under-test.ts";

function openWorld(t: Test, options: Parameters<typeof createWorldUnderTest>[0] = {}) {
  const world = createWorldUnderTest(options);
  const { runtime, close } = openSandboxPods(world);
  t.teardown(close);
  return { world, read: async () => (await runtime.read()).value.pods };
}

test("one of twenty pods keeps restarting", async (t) => {
  const { world, read } = openWorld(t);
  t.equal((await read()).length, 20);
  const workers = async () =>
    (await read())
      .flatMap(({ containers }) => containers)
      .filter(({ name }) => name === "sandbox-worker")
      .map(({ state }) => state);
  for (const _ of [1, 2, 3]) {
    t.same(await workers(), ["running"]);
    await world.clock.step(6_000);
    t.same(await workers(), ["exited"]);
    await world.clock.step(20_000);
  }
});

test("the number of pods is as requested, and the same seed gives the same pods", async (t) => {
  const { read } = openWorld(t);
  t.equal((await openWorld(t, { sizes: { pods: 200 } }).read()).length, 200);
  t.same(await openWorld(t).read(), await read());
  t.notSame(await openWorld(t, { seed: 2 }).read(), await read());
});
