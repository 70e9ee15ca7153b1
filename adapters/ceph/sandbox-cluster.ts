import type { Part } from "../host/part-of-state.ts";
import type { CephHealthCheck, CephState } from "./adapter.ts";
import { osdBytes, poolsFrom, smallPools, usedBytesPerOsd } from "./sandbox-pools.ts";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** OSDs of the cluster, unless there are to be more. */
const sandboxOsdCount = 6;
const mostOsdsPerHost = 12;

/** Returns the names of the hosts of a cluster of this many OSDs: at least three. OSD `n` is on the host `n % length`. */
export function sandboxCephHosts(osdCount: number): readonly string[] {
  const count = Math.max(3, Math.ceil(osdCount / mostOsdsPerHost));
  return Array.from({ length: count }, (_, index) => `sandbox-ceph-${index + 1}`);
}

/** PGs that recover at a time. */
const mostRecovering = 8;

/** Returns the initial state of a sandbox: three hosts or more with OSDs, three of them with a monitor, all healthy. */
export function sandboxState(nowMs: number, osdCount = sandboxOsdCount): CephState {
  const createdAtMs = nowMs - 30 * dayMs;
  const hostNames = sandboxCephHosts(osdCount);
  const pgFactor = 2 ** Math.ceil(Math.log2(Math.max(1, osdCount / sandboxOsdCount)));
  const pools = smallPools.map((pool) => ({ ...pool, pgCount: pgFactor * pool.pgCount }));
  const pgCount = pools.reduce((sum, pool) => sum + pool.pgCount, 0);
  const osds = osdsOn(hostNames, osdCount);
  return {
    fsid: "5a4db0c0-0000-4000-8000-00000000ce94",
    health: { status: "HEALTH_OK", checks: [] },
    slowOperationCount: 0,
    ...daemonsOf(createdAtMs),
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
        daemons: daemonsOn(name, index, osds),
      })),
    },
    pools: { ok: poolsFrom(pools, hostNames.length, osds.length) },
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
        pgCount: Math.round((pgCount * 3) / osds.length),
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

/** Returns three monitors, two managers and a file system with two metadata servers. */
function daemonsOf(createdAtMs: number): Pick<CephState, "mons" | "mgrs" | "mdss"> {
  return {
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
  };
}

function osdsOn(hostNames: readonly string[], osdCount: number) {
  return Array.from({ length: osdCount }, (_, id) => ({
    id,
    isUp: true,
    isIn: true,
    host: hostNames[id % hostNames.length],
    deviceClass: "ssd",
    reweight: 1,
    upFromEpoch: 10 + id,
    downAtEpoch: 0,
  }));
}

function daemonsOn(
  hostName: string,
  index: number,
  osds: readonly { readonly id: number; readonly host: string | undefined }[],
) {
  const own = osds.filter(({ host }) => host === hostName).map(({ id }) => `osd.${id}`);
  const letter = "abc"[index];
  const shared = index < 2 ? [`mds.${letter}`, `mgr.${letter}`] : [];
  const mon = letter === undefined ? [] : [`mon.${letter}`];
  return [...shared, ...mon, ...own];
}

/** Returns the state with this many PGs that lack copies, which are recovering or wait for their OSD. */
export function withDegradedPgs(state: CephState, degradedCount: number, isRecovering: boolean): CephState {
  if ("missing" in state.pgs || "missing" in state.objects) {
    return state;
  }
  const { count } = state.pgs.ok;
  const degraded = Math.min(degradedCount, count);
  const activeCount = Math.min(degraded, mostRecovering);
  const states = isRecovering
    ? [
        { state: "active+recovering+degraded", count: activeCount },
        { state: "active+recovery_wait+degraded", count: degraded - activeCount },
      ]
    : [{ state: "active+undersized+degraded", count: degraded }];
  const objectCount = Math.round((state.objects.ok.count * degraded) / count);
  const copyCount = 3 * state.objects.ok.count;
  const percent = ((100 * objectCount) / copyCount).toFixed(3);
  const undersized = isRecovering ? "" : `, ${degraded} pgs undersized`;
  const after = {
    ...state,
    pgs: {
      ok: {
        count,
        states: [{ state: "active+clean", count: count - degraded }, ...states].filter(
          (each) => each.count > 0,
        ),
      },
    },
  };
  const check: CephHealthCheck = {
    code: "PG_DEGRADED",
    severity: "HEALTH_WARN",
    summary: `Degraded data redundancy: ${objectCount}/${copyCount} objects degraded (${percent}%), ${degraded} pgs degraded${undersized}`,
    count: degraded,
    isMuted: false,
  };
  return withCheck(after, "PG_DEGRADED", degraded === 0 ? undefined : check);
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
