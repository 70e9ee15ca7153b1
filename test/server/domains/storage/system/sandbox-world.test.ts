import { setImmediate as nextTurn } from "node:timers/promises";
import { type Test, test } from "tap";
import type { CephState } from "../../../../../adapters/ceph/adapter.ts";
import { openSandboxStorage } from "../../../../../server/domains/storage/system/open-sandbox.ts";
import { createWorldUnderTest } from "../../../sandbox/demo-world-under-test.ts";

type World = Parameters<typeof createWorldUnderTest>[0];

const secondMs = 1_000;
const minuteMs = 60 * secondMs;

/** Opens the storage of a world; `after` steps its clock and reads the cluster. */
function openWorld(t: Test, options: World = {}) {
  const world = createWorldUnderTest(options);
  const { ceph, kubernetes, close } = openSandboxStorage(world);
  t.teardown(close);
  async function after(ms: number): Promise<CephState> {
    await world.clock.step(ms);
    await nextTurn();
    const snapshot = await ceph?.read();
    if (snapshot === undefined) {
      throw new Error("the world has no Ceph cluster");
    }
    return snapshot.value;
  }
  return { after, kubernetes };
}

function figuresOf({ health, osds, pgs }: CephState) {
  const degraded = "ok" in pgs ? pgs.ok.states.filter(({ state }) => state.includes("degraded")) : [];
  return {
    health: health.status,
    checks: health.checks.map(({ code }) => code),
    down: "ok" in osds ? osds.ok.osds.filter(({ isUp }) => !isUp).map(({ id }) => id) : [],
    degraded: degraded.reduce((sum, { count }) => sum + count, 0),
    isRecovering: degraded.some(({ state }) => state.includes("recover")),
  };
}

const healthy = { health: "HEALTH_OK", checks: [], down: [], degraded: 0, isRecovering: false };

test("an OSD fails, comes back, and the cluster recovers; twenty minutes later another one fails", async (t) => {
  const { after, kubernetes } = openWorld(t);
  const notReady = async () => {
    const { value } = (await kubernetes?.read()) ?? {};
    const deployments = value !== undefined && "ok" in value.deployments ? value.deployments.ok : [];
    return deployments.filter(({ readyReplicas }) => readyReplicas === 0).map(({ name }) => name);
  };
  t.same(figuresOf(await after(0)), healthy);
  const failed = figuresOf(await after(9 * secondMs));
  const [id] = failed.down;
  t.match(failed, {
    health: "HEALTH_WARN",
    checks: ["OSD_DOWN", "PG_DEGRADED"],
    down: [Number],
    degraded: 72,
    isRecovering: false,
  });
  t.same(await notReady(), [`rook-ceph-osd-${id}`]);

  const back = figuresOf(await after(90 * secondMs));
  t.same(
    { ...back, degraded: undefined },
    {
      health: "HEALTH_WARN",
      checks: ["PG_DEGRADED"],
      down: [],
      degraded: undefined,
      isRecovering: true,
    },
  );
  t.same(await notReady(), []);
  const later = figuresOf(await after(60 * secondMs));
  t.ok(later.degraded > 0 && later.degraded < back.degraded, `${back.degraded}, then ${later.degraded}`);
  t.same(figuresOf(await after(2 * minuteMs)), healthy);

  let waitedMs = 279 * secondMs;
  while (figuresOf(await after(10 * secondMs)).down.length === 0) {
    waitedMs += 10 * secondMs;
    if (waitedMs > 23 * minuteMs) {
      t.fail("no other OSD has failed");
      return;
    }
  }
  t.ok(waitedMs > 17 * minuteMs, `after ${waitedMs} ms`);
  t.same(figuresOf(await after(4 * minuteMs)), healthy);
});

test("the traffic of clients is the same for the same seed", async (t) => {
  // The cluster is read again when the OSD fails.
  const trafficOf = async ({ after }: ReturnType<typeof openWorld>) => (await after(9 * secondMs)).clientIo;
  const traffic = await trafficOf(openWorld(t));
  t.same(await trafficOf(openWorld(t)), traffic);
  t.notSame(await trafficOf(openWorld(t, { seed: 2 })), traffic);
});

test("a cluster can have many OSDs, which fail one at a time", async (t) => {
  const { after } = openWorld(t, { sizes: { osds: 100 } });
  const { osds, hosts, pgs } = await after(9 * secondMs);
  t.match({ osds, hosts }, { osds: { ok: { osds: { length: 100 } } }, hosts: { ok: { length: 9 } } });
  t.ok("ok" in pgs && pgs.ok.count >= 1_000);
  t.equal(figuresOf(await after(0)).down.length, 1);
});
