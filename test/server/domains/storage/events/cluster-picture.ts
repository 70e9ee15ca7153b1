import fc from "fast-check";
import type { CephState } from "../../../../../adapters/ceph/adapter.ts";
import { sandboxState } from "../../../../../adapters/ceph/sandbox-cluster.ts";
import type { Part } from "../../../../../adapters/host/part-of-state.ts";
import type { ObservedCluster } from "../../../../../server/domains/storage/events/observed-cluster.ts";
import type { NewEvent } from "../../../../../server/events/store/events.ts";

const healthy = sandboxState(0);
const name = fc.constantFrom("a", "b", "c", "d");
const epoch = fc.nat({ max: 9 });

const health = fc
  .uniqueArray(
    fc.record({
      code: fc.constantFrom("OSD_DOWN", "PG_DEGRADED", "SLOW_OPS", "RECENT_CRASH"),
      severity: fc.constantFrom("HEALTH_WARN" as const, "HEALTH_ERR" as const),
      summary: fc.string(),
      count: fc.nat(),
      isMuted: fc.boolean(),
    }),
    { selector: ({ code }) => code },
  )
  .map((checks) => {
    const severities = checks.filter(({ isMuted }) => !isMuted).map(({ severity }) => severity);
    const status = severities.includes("HEALTH_ERR") ? "HEALTH_ERR" : (severities[0] ?? "HEALTH_OK");
    return { status: status as CephState["health"]["status"], checks };
  });

const osds = fc
  .uniqueArray(
    fc.record({
      id: fc.nat({ max: 5 }),
      isUp: fc.boolean(),
      isIn: fc.boolean(),
      host: fc.option(fc.constantFrom("h1", "h2"), { nil: undefined }),
      deviceClass: fc.constant("ssd"),
      reweight: fc.constant(1),
      upFromEpoch: epoch,
      downAtEpoch: epoch,
    }),
    { selector: ({ id }) => id },
  )
  .map((all) => ({
    mapEpoch: 10,
    osds: all.toSorted((a, b) => a.id - b.id),
    upChangedAtMs: undefined,
    inChangedAtMs: undefined,
    nearFullRatio: 0.85,
    fullRatio: 0.95,
  }));

const mons = fc.record({
  names: fc.uniqueArray(name),
  mapCreatedAtMs: fc.constant(undefined),
  mapModifiedAtMs: fc.constant(undefined),
  inQuorum: fc.uniqueArray(name),
});

const mgrs = fc.record({
  active: fc.option(name, { nil: undefined }),
  standbys: fc.uniqueArray(name),
  activeChangedAtMs: fc.option(fc.nat({ max: 3 }), { nil: undefined }),
});

const mdsState = fc.constantFrom("up:active", "up:replay", "up:standby-replay");
const mdss = fc
  .uniqueArray(fc.record({ name, state: fc.oneof(mdsState, fc.constant("up:standby")) }), {
    selector: (mds) => mds.name,
  })
  .map((all) => ({
    filesystems: [
      { name: "cephfs", maxRanks: 1, servers: all.filter(({ state }) => state !== "up:standby") },
    ],
    standbys: all.filter(({ state }) => state === "up:standby").map((mds) => mds.name),
  }));

const rgws = fc
  .uniqueArray(fc.record({ name, host: fc.constantFrom("h1", "h2"), zone: fc.constant("default") }), {
    selector: (rgw) => `${rgw.name}@${rgw.host}`,
  })
  .map((daemons) => ({ daemons }));

const osdUsage = fc.uniqueArray(
  fc.record({ id: fc.nat({ max: 5 }), usedPercent: fc.nat({ max: 100 }) }).map(({ id, usedPercent }) => ({
    id,
    totalBytes: 100n,
    usedBytes: BigInt(usedPercent),
    availableBytes: BigInt(100 - usedPercent),
    pgCount: 1,
  })),
  { selector: ({ id }) => id },
);

const crashes = fc.uniqueArray(
  fc.record({
    id: fc.constantFrom("crash-1", "crash-2", "crash-3"),
    entity: fc.constant("osd.0"),
    host: fc.constant("h1"),
    atMs: fc.nat(),
    what: fc.string(),
    version: fc.constant("16.2.15"),
    isArchived: fc.boolean(),
  }),
  { selector: ({ id }) => id },
);

const ok = <T>(arbitrary: fc.Arbitrary<T>) => arbitrary.map((value): Part<T> => ({ ok: value }));

/** States of one cluster without missing parts. */
export const states: fc.Arbitrary<CephState> = fc
  .record({ health, osds: ok(osds), mgrs: ok(mgrs), mdss: ok(mdss), rgws: ok(rgws), osdUsage: ok(osdUsage) })
  .chain((parts) =>
    fc.record({ mons, crashes: ok(crashes) }).map(({ mons: { inQuorum, ...facts }, ...others }) => ({
      ...healthy,
      ...parts,
      ...others,
      mons: { ok: { ...facts, quorum: facts.names.filter((each) => inQuorum.includes(each)) } },
    })),
  );

/** Like `states`, but any part may be missing. */
export const brokenStates: fc.Arbitrary<CephState> = fc
  .tuple(
    states,
    fc.subarray(["mons", "mgrs", "mdss", "osds", "rgws", "hosts", "pools", "osdUsage", "crashes"] as const),
  )
  .map(([state, missing]) => ({
    ...state,
    ...Object.fromEntries(missing.map((part) => [part, { missing: "it hangs" }])),
  }));

/** The state of a cluster as reconstructed from events. */
export type Picture = Readonly<Record<string, string>>;

/** Returns the picture that all events so far should produce. */
export function pictureOf(observed: ObservedCluster): Picture {
  const { health, osds = [], mons = [], mgrs, mdss = [], rgws = [], crashes = [] } = observed;
  const { nearFullOsds = [], nearFullPools = [] } = observed;
  const rows = [
    ["status", health?.status ?? ""],
    ...(health?.checks ?? []).map(({ code }) => [`check ${code}`, "raised"]),
    ...osds.map(({ id, isUp, isIn }) => [`osd.${id}`, `${isUp ? "up" : "down"}, ${isIn ? "in" : "out"}`]),
    ...mons.filter(({ isInQuorum }) => isInQuorum).map((mon) => [`mon.${mon.name}`, "in quorum"]),
    ...(mgrs?.active == null ? [] : [["active", `mgr.${mgrs.active}`]]),
    ...mdss.map((mds) => [`mds.${mds.name}`, mds.state]),
    ...rgws.map((rgw) => [`rgw.${rgw.name}@${rgw.host}`, "up"]),
    ...nearFullOsds.map((id) => [`full osd.${id}`, "nearly"]),
    ...nearFullPools.map((id) => [`full pool ${id}`, "nearly"]),
    ...crashes.map(({ id, isArchived }) => [id, isArchived ? "archived" : "reported"]),
  ];
  return Object.fromEntries(rows);
}

interface Payload {
  readonly clusterHealth?: {
    readonly status: string;
    readonly previousStatus: string;
    readonly raised: readonly string[];
    readonly cleared: readonly string[];
  };
  readonly cephDaemon?: {
    readonly name: string;
    readonly host: string;
    readonly state: string;
    readonly previousState: string;
  };
  readonly cephSpace?: { readonly name: string };
  readonly cephCrash?: { readonly id: string };
}

/** Returns the picture after an event. @throws Error if the event does not fit the picture */
export function applyEvent(picture: Picture, { type, payload }: NewEvent): Picture {
  const { clusterHealth, cephDaemon, cephSpace, cephCrash } = payload as Payload;
  const next: Record<string, string> = { ...picture };
  const expect = (key: string, value: string | undefined) => {
    if (picture[key] !== value) {
      throw new Error(`${type}: ${key} is ${picture[key]}, not ${value}`);
    }
  };
  if (clusterHealth !== undefined) {
    const { status, previousStatus, raised, cleared } = clusterHealth;
    expect("status", previousStatus);
    next.status = status;
    for (const line of raised) {
      next[`check ${line.split(":")[0]}`] = "raised";
    }
    for (const code of cleared) {
      expect(`check ${code}`, "raised");
      delete next[`check ${code}`];
    }
  } else if (cephDaemon !== undefined) {
    applyDaemon(next, type, cephDaemon, expect);
  } else if (cephSpace !== undefined) {
    const key = `full ${cephSpace.name}`;
    expect(key, type === "osd.nearFull" ? undefined : "nearly");
    delete next[key];
    Object.assign(next, type === "osd.nearFull" ? { [key]: "nearly" } : {});
  } else if (cephCrash !== undefined) {
    const { id } = cephCrash;
    const isFirst = type === "crash.reported";
    expect(id, isFirst ? undefined : "reported");
    next[id] = isFirst ? "reported" : "archived";
  }
  return next;
}

function applyDaemon(
  next: Record<string, string>,
  type: string,
  { name: daemon, host, state, previousState }: NonNullable<Payload["cephDaemon"]>,
  expect: (key: string, value: string | undefined) => void,
): void {
  const isGone = state === "gone" || state === "removed" || type === "mon.left";
  switch (type.split(".")[0]) {
    case "mgr":
      if (type === "mgr.none") {
        expect("active", daemon);
        delete next.active;
      } else {
        next.active = daemon;
      }
      return;
    case "rgw": {
      const key = `${daemon}@${host}`;
      expect(key, previousState === "" ? undefined : previousState);
      delete next[key];
      Object.assign(next, isGone ? {} : { [key]: state });
      return;
    }
    case "mon":
      expect(daemon, type === "mon.left" ? "in quorum" : undefined);
      break;
    default:
      expect(daemon, previousState === "" ? undefined : previousState);
  }
  delete next[daemon];
  Object.assign(next, isGone ? {} : { [daemon]: state });
}
