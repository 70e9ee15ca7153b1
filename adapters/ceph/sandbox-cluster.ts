import type { Part } from "../host/part-of-state.ts";
import type { CephHealthCheck, CephState } from "./adapter.ts";

const gibibyte = 1n << 30n;
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

const hostNames = ["sandbox-ceph-1", "sandbox-ceph-2", "sandbox-ceph-3"] as const;
const osdBytes = 1024n * gibibyte;
const usedBytesPerOsd = 150n * gibibyte;

/** Pools and the data that clients have stored in them. Each object has three copies. */
const pools = [
  { name: "images", application: "rbd", pgCount: 64, objectCount: 51_200, storedBytes: 200n * gibibyte },
  { name: "cephfs.metadata", application: "cephfs", pgCount: 16, objectCount: 1_100, storedBytes: gibibyte },
  {
    name: "cephfs.data",
    application: "cephfs",
    pgCount: 32,
    objectCount: 24_576,
    storedBytes: 96n * gibibyte,
  },
  { name: "default.rgw.data", application: "rgw", pgCount: 32, objectCount: 768, storedBytes: 3n * gibibyte },
] as const;
const pgCount = pools.reduce((sum, pool) => sum + pool.pgCount, 0);

/** Returns the initial state of a sandbox: three hosts with a monitor and two OSDs each, all healthy. */
export function sandboxState(nowMs: number): CephState {
  const createdAtMs = nowMs - 30 * dayMs;
  const osds = [0, 1, 2, 3, 4, 5].map((id) => ({
    id,
    isUp: true,
    isIn: true,
    host: hostNames[id % hostNames.length],
    deviceClass: "ssd",
    reweight: 1,
    upFromEpoch: 10 + id,
    downAtEpoch: 0,
  }));
  return {
    fsid: "5a4db0c0-0000-4000-8000-00000000ce94",
    health: { status: "HEALTH_OK", checks: [] },
    slowOperationCount: 0,
    mons: {
      ok: {
        names: ["a", "b", "c"],
        quorum: ["a", "b", "c"],
        mapCreatedAtMs: createdAtMs,
        mapModifiedAtMs: createdAtMs + minuteMs,
      },
    },
    mgrs: { ok: { active: "a", standbys: ["b"], activeChangedAtMs: createdAtMs + 2 * minuteMs } },
    mdss: {
      ok: {
        filesystems: [
          {
            name: "cephfs",
            maxRanks: 1,
            servers: [
              { name: "a", state: "up:active" },
              { name: "b", state: "up:standby-replay" },
            ],
          },
        ],
        standbys: [],
      },
    },
    osds: {
      ok: {
        mapEpoch: 20,
        osds,
        upChangedAtMs: createdAtMs + 5 * minuteMs,
        inChangedAtMs: createdAtMs + 5 * minuteMs,
        nearFullRatio: 0.85,
        fullRatio: 0.95,
      },
    },
    rgws: {
      ok: {
        daemons: hostNames
          .slice(0, 2)
          .map((host, index) => ({ name: "ab"[index] ?? "", host, zone: "default" })),
      },
    },
    hosts: {
      ok: hostNames.map((name, index) => ({
        name,
        daemons: daemonsOn(index, osds),
      })),
    },
    pools: {
      ok: pools.map(({ name, application, pgCount, objectCount, storedBytes }, index) => ({
        id: index + 1,
        name,
        kind: "replicated",
        size: 3,
        minSize: 2,
        redundancy: 2,
        pgCount,
        failureDomain: { type: "host", count: hostNames.length },
        applications: [application],
        quotaBytes: undefined,
        quotaObjects: undefined,
        usage: {
          objectCount,
          storedBytes,
          usedBytes: 3n * storedBytes,
          availableBytes: (BigInt(osds.length) * (osdBytes - usedBytesPerOsd)) / 3n,
        },
      })),
    },
    pgs: { ok: { count: pgCount, states: [{ state: "active+clean", count: pgCount }] } },
    objects: {
      ok: {
        count: pools.reduce((sum, pool) => sum + pool.objectCount, 0),
        storedBytes: pools.reduce((sum, pool) => sum + pool.storedBytes, 0n),
      },
    },
    usage: {
      ok: {
        usedBytes: BigInt(osds.length) * usedBytesPerOsd,
        availableBytes: BigInt(osds.length) * (osdBytes - usedBytesPerOsd),
        totalBytes: BigInt(osds.length) * osdBytes,
      },
    },
    clientIo: {
      ok: { readBytesPerSecond: 853, writeBytesPerSecond: 0, readsPerSecond: 1, writesPerSecond: 0 },
    },
    recovery: { ok: { bytesPerSecond: 0, objectsPerSecond: 0 } },
    crashes: { ok: [] },
    osdUsage: {
      ok: osds.map(({ id }) => ({
        id,
        totalBytes: osdBytes,
        usedBytes: usedBytesPerOsd,
        availableBytes: osdBytes - usedBytesPerOsd,
        pgCount: (pgCount * 3) / osds.length,
      })),
    },
    rbdImageCount: { ok: 12 },
    subvolumeCount: { ok: 4 },
    scrubs: {
      ok: pools.map((_, index) => ({
        poolId: index + 1,
        oldestScrubAtMs: nowMs - dayMs,
        oldestDeepScrubAtMs: nowMs - 6 * dayMs,
      })),
    },
  };
}

function daemonsOn(
  index: number,
  osds: readonly { readonly id: number; readonly host: string | undefined }[],
) {
  const own = osds.filter(({ host }) => host === hostNames[index]).map(({ id }) => `osd.${id}`);
  const letter = "abc"[index];
  const shared = index < 2 ? [`mds.${letter}`, `mgr.${letter}`] : [];
  return [...shared, `mon.${letter}`, ...own];
}

/** Returns the state with the check added or replaced, or, if it is undefined, without any check of this code. */
export function withCheck(state: CephState, code: string, check: CephHealthCheck | undefined): CephState {
  const others = state.health.checks.filter((each) => each.code !== code);
  const checks =
    check === undefined ? others : [...others, check].toSorted((a, b) => (a.code < b.code ? -1 : 1));
  const unmuted = checks.filter(({ isMuted }) => !isMuted).map(({ severity }) => severity);
  const status = unmuted.includes("HEALTH_ERR") ? "HEALTH_ERR" : (unmuted[0] ?? "HEALTH_OK");
  return { ...state, health: { status, checks } };
}

/** Returns the state as it is reported while no manager is active. */
export function withoutManager(state: CephState): CephState {
  const missing: Part<never> = { missing: "no manager is active" };
  const mgrs =
    "ok" in state.mgrs ? { ok: { ...state.mgrs.ok, active: undefined, standbys: [] } } : state.mgrs;
  const down = { severity: "HEALTH_WARN", summary: "no active mgr", count: 0, isMuted: false } as const;
  return withCheck(
    {
      ...state,
      mgrs,
      pgs: missing,
      objects: missing,
      usage: missing,
      clientIo: missing,
      recovery: missing,
      crashes: missing,
      osdUsage: missing,
      subvolumeCount: missing,
      scrubs: missing,
      pools:
        "ok" in state.pools
          ? { ok: state.pools.ok.map((pool) => ({ ...pool, usage: undefined })) }
          : state.pools,
    },
    "MGR_DOWN",
    { ...down, code: "MGR_DOWN" },
  );
}
