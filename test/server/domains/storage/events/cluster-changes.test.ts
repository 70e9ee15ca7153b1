import assert from "node:assert/strict";
import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import fc from "fast-check";
import { test } from "tap";
import type { CephState } from "../../../../../adapters/ceph/adapter.ts";
import { sandboxState, withCheck, withoutManager } from "../../../../../adapters/ceph/sandbox-cluster.ts";
import { EventSchema } from "../../../../../gen/hostplane/v1/event_pb.ts";
import { clusterChanges } from "../../../../../server/domains/storage/events/cluster-changes.ts";
import { parseObservedCluster } from "../../../../../server/domains/storage/events/observed-cluster.ts";
import { applyEvent, brokenStates, pictureOf, states } from "./cluster-picture.ts";

const healthy = sandboxState(0);
const cluster = `cephClusters/${healthy.fsid}`;

/** Returns the events for each state after the first, which yields none. */
function changesOfAll(first: CephState, ...others: readonly CephState[]) {
  let { observed } = clusterChanges(undefined, first);
  return others.map((state) => {
    const received = clusterChanges(observed, state);
    observed = received.observed;
    return received.events.map(({ type, resource, payload }) => ({ type, resource, ...(payload as object) }));
  });
}

const typesOf = (received: readonly (readonly { readonly type: string }[])[]) =>
  received.map((events) => events.map(({ type }) => type));

function withOsd(state: CephState, id: number, change: object): CephState {
  const osds = "ok" in state.osds ? state.osds.ok : undefined;
  return osds === undefined
    ? state
    : {
        ...state,
        osds: {
          ok: { ...osds, osds: osds.osds.map((osd) => (osd.id === id ? { ...osd, ...change } : osd)) },
        },
      };
}

/** Returns a state with only the first pool, used to this percentage of its capacity. */
function withPool(percent: bigint, quotaBytes?: bigint): CephState {
  const pools = "ok" in healthy.pools ? healthy.pools.ok : [];
  const usage = {
    objectCount: 1,
    storedBytes: percent,
    usedBytes: 3n * percent,
    availableBytes: 100n - percent,
  };
  return { ...healthy, pools: { ok: pools.slice(0, 1).map((pool) => ({ ...pool, usage, quotaBytes })) } };
}

test("an OSD that goes down and comes back is reported with its host and previous state", async (t) => {
  const down = withOsd(healthy, 1, { isUp: false, downAtEpoch: 21 });
  const out = withOsd(down, 1, { isIn: false });
  const received = changesOfAll(healthy, down, out, healthy);
  const facts = { name: "osd.1", host: "sandbox-ceph-2" };
  const resource = `${cluster}/osds/1`;
  t.strictSame(received, [
    [{ type: "osd.down", resource, cephDaemon: { ...facts, state: "down, in", previousState: "up, in" } }],
    [{ type: "osd.out", resource, cephDaemon: { ...facts, state: "down, out", previousState: "down, in" } }],
    [
      { type: "osd.up", resource, cephDaemon: { ...facts, state: "up, out", previousState: "down, out" } },
      { type: "osd.in", resource, cephDaemon: { ...facts, state: "up, in", previousState: "up, out" } },
    ],
  ]);
});

test("an OSD that was down between two reads is reported", async (t) => {
  const restarted = withOsd(healthy, 2, { downAtEpoch: 21, upFromEpoch: 22 });
  const isDown = withOsd(healthy, 2, { isUp: false, downAtEpoch: 21 });
  const wasUp = withOsd(healthy, 2, { isUp: false, upFromEpoch: 22, downAtEpoch: 23 });
  t.strictSame(typesOf(changesOfAll(healthy, restarted, restarted)), [["osd.down", "osd.up"], []]);
  t.strictSame(typesOf(changesOfAll(isDown, wasUp)), [["osd.up", "osd.down"]]);
});

test("health is compared by its checks, not by their summaries", async (t) => {
  const check = { code: "PG_DEGRADED", severity: "HEALTH_WARN", count: 1, isMuted: false } as const;
  const degraded = withCheck(healthy, "PG_DEGRADED", { ...check, summary: "1/9 objects degraded" });
  const more = withCheck(healthy, "PG_DEGRADED", { ...check, summary: "2/9 objects degraded" });
  const error = withCheck(healthy, "PG_DEGRADED", { ...check, severity: "HEALTH_ERR", summary: "all" });
  const muted = withCheck(healthy, "PG_DEGRADED", { ...check, isMuted: true, summary: "2/9" });
  const [raised, ...others] = changesOfAll(healthy, degraded, more, error, muted, healthy);
  const facts = { cluster: healthy.fsid, status: "HEALTH_WARN", previousStatus: "HEALTH_OK" };
  t.strictSame(raised, [
    {
      type: "cluster.health",
      resource: cluster,
      clusterHealth: { ...facts, raised: ["PG_DEGRADED: 1/9 objects degraded"], cleared: [] },
    },
  ]);
  t.match(others, [
    [],
    [{ clusterHealth: { status: "HEALTH_ERR", raised: ["PG_DEGRADED: all"], cleared: [] } }],
    [{ clusterHealth: { status: "HEALTH_OK", raised: [], cleared: ["PG_DEGRADED"] } }],
    [],
  ]);
});

test("the loss of a manager and a failover are reported", async (t) => {
  const failedOver: CephState = {
    ...healthy,
    mgrs: { ok: { active: "b", standbys: ["a"], activeChangedAtMs: 5 } },
  };
  const again: CephState = {
    ...healthy,
    mgrs: { ok: { active: "b", standbys: ["a"], activeChangedAtMs: 6 } },
  };
  const received = changesOfAll(healthy, withoutManager(healthy), failedOver, again);
  t.match(received, [
    [{ type: "cluster.health" }, { type: "mgr.none", cephDaemon: { name: "mgr.a", state: "gone" } }],
    [{ type: "cluster.health" }, { type: "mgr.active", cephDaemon: { name: "mgr.b", state: "active" } }],
    [{ type: "mgr.none" }, { type: "mgr.active", cephDaemon: { name: "mgr.b", previousState: "gone" } }],
  ]);
  t.match(changesOfAll(healthy, failedOver), [
    [{ type: "mgr.active", cephDaemon: { host: "sandbox-ceph-2", previousState: "standby" } }],
  ]);
});

test("monitors, metadata servers and object gateways are reported when they come and go", async (t) => {
  const without: CephState = {
    ...healthy,
    mons: { ok: { names: ["a", "b"], quorum: ["b"], mapCreatedAtMs: 0, mapModifiedAtMs: 0 } },
    mdss: {
      ok: {
        filesystems: [{ name: "cephfs", maxRanks: 1, servers: [{ name: "b", state: "up:replay" }] }],
        standbys: [],
      },
    },
    rgws: { ok: { daemons: [{ name: "a", host: "sandbox-ceph-1", zone: "default" }] } },
  };
  const lines = changesOfAll(healthy, without, healthy).map((events) =>
    events.map((event) => {
      const { name, state, previousState } = (event as unknown as { cephDaemon: Record<string, string> })
        .cephDaemon;
      return `${event.type} ${name}: ${previousState} -> ${state}`;
    }),
  );
  t.strictSame(lines, [
    [
      "mon.left mon.a: in quorum -> out of quorum",
      "mon.left mon.c: in quorum -> gone",
      "mds.changed mds.a: up:active -> gone",
      "mds.changed mds.b: up:standby-replay -> up:replay",
      "rgw.removed rgw.b: up -> gone",
    ],
    [
      "mon.joined mon.a: out of quorum -> in quorum",
      "mon.joined mon.c:  -> in quorum",
      "mds.changed mds.a:  -> up:active",
      "mds.changed mds.b: up:replay -> up:standby-replay",
      "rgw.added rgw.b:  -> up",
    ],
  ]);
});

test("a nearly full pool is reported once, and its relief only with clearly more space", async (t) => {
  const received = changesOfAll(withPool(84n), withPool(85n), withPool(84n), withPool(86n), withPool(82n));
  t.match(received, [
    [
      {
        type: "pool.nearFull",
        resource: `${cluster}/pools/images`,
        cephSpace: { name: "images", usedBytes: "85", totalBytes: "100" },
      },
    ],
    [],
    [],
    [{ type: "pool.enough", cephSpace: { usedBytes: "82" } }],
  ]);
  t.match(
    changesOfAll(withPool(10n), withPool(10n, 11n), withPool(10n, 10_000n)),
    [[{ type: "pool.nearFull", cephSpace: { totalBytes: "11" } }], [{ type: "pool.enough" }]],
    "by the quota, if that is smaller",
  );
});

test("a crash yields an event when it is reported and when it is archived", async (t) => {
  const crash = {
    id: "2026-01-31T10:00:00Z_1",
    entity: "osd.1",
    host: "h1",
    atMs: 1000,
    what: "FAILED ceph_assert",
    version: "16.2.15",
    isArchived: false,
  };
  const reported: CephState = { ...healthy, crashes: { ok: [crash] } };
  const archived: CephState = { ...healthy, crashes: { ok: [{ ...crash, isArchived: true }] } };
  const { id, entity, host, what } = crash;
  const facts = { id, entity, host, what, at: "1970-01-01T00:00:01.000Z" };
  const resource = `${cluster}/crashes/${id}`;
  t.strictSame(changesOfAll(healthy, reported, archived, healthy), [
    [{ type: "crash.reported", resource, cephCrash: facts }],
    [{ type: "crash.archived", resource, cephCrash: facts }],
    [],
  ]);
  t.strictSame(typesOf(changesOfAll(healthy, archived)), [["crash.reported", "crash.archived"]]);
  t.strictSame(
    changesOfAll(healthy, { ...healthy, crashes: { ok: [{ ...crash, atMs: 0 }] } }),
    [[{ type: "crash.reported", resource, cephCrash: { id, entity, host, what } }]],
    "a crash without a time has none in its event",
  );
});

test("a cluster with another fsid yields no events, and becomes the known one", async (t) => {
  const other = withOsd({ ...healthy, fsid: "another" }, 1, { isUp: false });
  const { observed, events } = clusterChanges(clusterChanges(undefined, healthy).observed, other);
  t.strictSame(events, []);
  t.equal(observed.fsid, "another");
  t.match(clusterChanges(observed, { ...healthy, fsid: "another" }).events, [{ type: "osd.up" }]);
});

test("a missing part yields no events, and is compared when it is back", async (t) => {
  const blind: CephState = { ...healthy, osds: { missing: "it hangs" }, osdUsage: { missing: "it hangs" } };
  const down = withOsd(healthy, 1, { isUp: false });
  t.strictSame(typesOf(changesOfAll(healthy, blind, down)), [[], ["osd.down"]]);
  t.strictSame(typesOf(changesOfAll(blind, down)), [[]], "a part that was never seen has not changed");
});

test("a state stored by another version is parsed as far as possible", async (t) => {
  const { observed } = clusterChanges(undefined, healthy);
  const older = { fsid: healthy.fsid, osds: observed.osds, crashes: "three", newer: true };
  const read = parseObservedCluster(JSON.parse(JSON.stringify(older)));
  t.strictSame(read?.osds, observed.osds);
  t.equal(read?.crashes, undefined);
  t.match(clusterChanges(read, withOsd(healthy, 1, { isUp: false })).events, [{ type: "osd.down" }]);
  t.equal(parseObservedCluster({ volumes: [] }), undefined);
});

test("applying the events to the first state gives the second, and they are valid", async () => {
  fc.assert(
    fc.property(states, states, (before, after) => {
      fc.pre(!isUnarchived(before, after));
      const first = clusterChanges(undefined, before);
      const { observed, events } = clusterChanges(first.observed, after);
      for (const { payload } of events) {
        fromJson(EventSchema, payload as JsonValue);
      }
      const picture = pictureOf(observed);
      // Full OSDs and pools, and crashes, that are gone are not reported again.
      const received = Object.entries(events.reduce(applyEvent, pictureOf(first.observed))).filter(
        ([key]) => key in picture || !/^(full|crash)/.test(key),
      );
      assert.deepEqual(Object.fromEntries(received), picture);
    }),
  );
});

/** Reports whether a crash was removed from the archive, which Ceph cannot do. */
function isUnarchived({ crashes: before }: CephState, { crashes: after }: CephState): boolean {
  const isIn = (crashes: CephState["crashes"], id: string, isArchived: boolean) =>
    "ok" in crashes && crashes.ok.some((crash) => crash.id === id && crash.isArchived === isArchived);
  return "ok" in before && before.ok.some(({ id }) => isIn(before, id, true) && isIn(after, id, false));
}

test("a repeated state yields no events, with any missing parts, even after it was stored", async () => {
  fc.assert(
    fc.property(brokenStates, brokenStates, (before, after) => {
      const { observed } = clusterChanges(clusterChanges(undefined, before).observed, after);
      const kept = parseObservedCluster(JSON.parse(JSON.stringify(observed)));
      assert.deepEqual(clusterChanges(observed, after), { observed, events: [] });
      assert.deepEqual(clusterChanges(kept, after).events, []);
      assert.equal(JSON.stringify(kept), JSON.stringify(observed));
    }),
  );
});

test("parsing a stored state never throws", async () => {
  fc.assert(fc.property(fc.jsonValue(), (json) => void parseObservedCluster(json)));
});

test("nearly full is reported once around the limit", async () => {
  const percents = fc.array(fc.integer({ min: 83, max: 100 }), { minLength: 1 });
  fc.assert(
    fc.property(percents, (all) => {
      const received = typesOf(
        changesOfAll(withPool(0n), ...all.map((percent) => withPool(BigInt(percent)))),
      ).flat();
      assert.deepEqual(received, all.some((percent) => percent >= 85) ? ["pool.nearFull"] : []);
    }),
  );
});
