import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { test } from "tap";
import type { CephState } from "../../../../../adapters/ceph/adapter.ts";
import { sandboxState } from "../../../../../adapters/ceph/sandbox-cluster.ts";
import { clusterStatsFrom } from "../../../../../server/domains/storage/ceph/cluster-stats.ts";

const nowMs = Date.parse("2026-11-21T12:00:00Z");
const dayMs = 24 * 3_600_000;

function statsOf(change: Partial<CephState> = {}) {
  return clusterStatsFrom({ ...sandboxState(nowMs), ...change }, nowMs);
}

test("each field comes from the system", async (t) => {
  const { stats, missing, clamped } = statsOf();
  const createdAtMs = nowMs - 30 * dayMs;
  t.same(stats, {
    id: "5a4db0c0-0000-4000-8000-00000000ce94",
    status: "HEALTH_OK",
    crashes: [],
    services: {
      mon: {
        daemonCount: 3,
        quorum: "a,b,c",
        createdAt: timestampFromMs(createdAtMs),
        updatedAt: timestampFromMs(createdAtMs + 60_000),
      },
      mgr: { active: "a", standbys: ["b"], updatedAt: timestampFromMs(createdAtMs + 120_000) },
      mds: { daemonsUp: 1, hotStandbyCount: 1 },
      osd: {
        osdCount: 6,
        osdUp: 6,
        osdIn: 6,
        osdUpUpdatedAt: timestampFromMs(createdAtMs + 300_000),
        osdInUpdatedAt: timestampFromMs(createdAtMs + 300_000),
      },
      rgw: { activeDaemon: 2, hostCount: 2, zoneCount: 1 },
    },
    data: {
      volumes: 16,
      pools: { pools: 4, pgs: { activeClean: 144 } },
      objects: { objectCount: 77_644, size: "300.00 GiB" },
      usage: { used: 900n << 30n, available: 5244n << 30n, total: 6144n << 30n },
    },
    iops: {
      clientRead: "853.00 B/s rd",
      clientWrite: "0.00 B/s wr",
      clientReadOps: "1 ops/s rd",
      clientWriteOps: "0 ops/s wr",
    },
  });
  t.same(missing, []);
  t.same(clamped, []);
});

test("only unarchived crashes of two weeks are returned, with daemon, host, time and message", async (t) => {
  const crash = {
    id: "1",
    entity: "osd.1",
    host: "ceph-2",
    atMs: nowMs - dayMs,
    what: "FAILED ceph_assert(false)",
    version: "16.2.15",
    isArchived: false,
  };
  const crashes = [
    crash,
    { ...crash, id: "2", isArchived: true },
    { ...crash, id: "3", atMs: nowMs - 14 * dayMs - 1 },
    { ...crash, id: "4", entity: "", host: "", atMs: 0 },
  ];
  t.same(statsOf({ crashes: { ok: crashes } }).stats.crashes, [
    { description: "osd.1 on ceph-2 crashed at 2026-11-20T12:00:00.000Z: FAILED ceph_assert(false)" },
    { description: "a daemon crashed: FAILED ceph_assert(false)" },
  ]);
});

test("health checks are not crashes", async (t) => {
  const check = {
    code: "OSD_DOWN",
    severity: "HEALTH_WARN",
    summary: "1 osds down",
    count: 1,
    isMuted: false,
  } as const;
  const { stats } = statsOf({ health: { status: "HEALTH_WARN", checks: [check] } });
  t.match(stats, { status: "HEALTH_WARN", crashes: [] });
});

test("metadata servers that hold a rank are up, in all filesystems; followers are hot standbys", async (t) => {
  const server = (name: string, state: string) => ({ name, state });
  const { stats } = statsOf({
    mdss: {
      ok: {
        filesystems: [
          {
            name: "one",
            maxRanks: 2,
            servers: [server("a", "up:active"), server("b", "up:replay"), server("c", "up:standby-replay")],
          },
          { name: "two", maxRanks: 1, servers: [server("d", "up:stopping"), server("e", "down:dne")] },
        ],
        standbys: ["f"],
      },
    },
  });
  t.match(stats.services, { mds: { daemonsUp: 3, hotStandbyCount: 1 } });
});

test("PGs count as active and clean while they are scrubbed", async (t) => {
  const states = [
    { state: "active+clean", count: 10 },
    { state: "active+clean+scrubbing+deep", count: 2 },
    { state: "active+undersized+degraded", count: 4 },
    { state: "unclean+active", count: 1 },
  ];
  const { stats } = statsOf({ pgs: { ok: { count: 17, states } } });
  t.match(stats.data, { pools: { pgs: { activeClean: 12 } } });
});

test("hosts and zones of gateways are counted once each", async (t) => {
  const daemons = [
    { name: "a", host: "ceph-1", zone: "east" },
    { name: "b", host: "ceph-1", zone: "west" },
    { name: "c", host: "ceph-2", zone: "west" },
  ];
  t.match(statsOf({ rgws: { ok: { daemons } } }).stats.services, {
    rgw: { activeDaemon: 3, hostCount: 2, zoneCount: 2 },
  });
  t.match(statsOf({ rgws: { ok: { daemons: [] } } }).stats.services, {
    rgw: { activeDaemon: 0, hostCount: 0, zoneCount: 0 },
  });
});

test("the quorum lists only the monitors that are in quorum", async (t) => {
  const mons = {
    names: ["a", "b", "c"],
    quorum: ["a", "c"],
    mapCreatedAtMs: undefined,
    mapModifiedAtMs: undefined,
  };
  const { stats } = statsOf({ mons: { ok: mons } });
  t.same(stats.services?.mon, { daemonCount: 3, quorum: "a,c" });
});

test("an unreadable part leaves only its own field unset, and is listed", async (t) => {
  const fields: readonly [
    keyof CephState,
    string,
    (stats: ReturnType<typeof statsOf>["stats"]) => unknown,
  ][] = [
    ["crashes", "crashes", ({ crashes }) => crashes?.[0]],
    ["mons", "services.mon", ({ services }) => services?.mon],
    ["mgrs", "services.mgr", ({ services }) => services?.mgr],
    ["mdss", "services.mds", ({ services }) => services?.mds],
    ["osds", "services.osd", ({ services }) => services?.osd],
    ["rgws", "services.rgw", ({ services }) => services?.rgw],
    ["rbdImageCount", "data.volumes", ({ data }) => data?.volumes],
    ["subvolumeCount", "data.volumes", ({ data }) => data?.volumes],
    ["pools", "data.pools", ({ data }) => data?.pools],
    ["pgs", "data.pools.pgs", ({ data }) => data?.pools?.pgs],
    ["objects", "data.objects", ({ data }) => data?.objects],
    ["usage", "data.usage", ({ data }) => data?.usage],
    ["clientIo", "iops", ({ iops }) => iops],
  ];
  for (const [part, field, fieldOf] of fields) {
    const { stats, missing } = statsOf({ [part]: { missing: "not today" } });
    t.equal(fieldOf(stats), undefined, part);
    t.match(missing, [{ field, reason: /not today$/ }], part);
    t.equal(missing.length, 1);
  }
});
