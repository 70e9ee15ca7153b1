import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { CephMdss, CephOsds, CephPgs, CephRgws, CephState } from "../../../../adapters/ceph/adapter.ts";
import type { Part } from "../../../../adapters/host/part-of-state.ts";
import type {
  ClusterStatsSchema,
  DataSchema,
  IOPSSchema,
  MdsServiceSchema,
  OsdServiceSchema,
  RgwServiceSchema,
  ServicesSchema,
} from "../../../../gen/resources/stats/stats_pb.ts";
import { createFigureNotes, type FigureNotes, type MissingPart } from "../figures/figure-notes.ts";
import { bytesText, operationsText, throughputText } from "../figures/text-figures.ts";
import { crashSentence, recentCrashes } from "./crashes.ts";

export interface ClusterStatsFigures {
  readonly stats: MessageInitShape<typeof ClusterStatsSchema>;
  readonly missing: readonly MissingPart[];
  /** Fields whose figure exceeds int32. */
  readonly clamped: readonly string[];
}

/** Builds the answer of GetClusterStats. Source and formula of each field: docs/reference/domains/stats.md. */
export function clusterStatsFrom(state: CephState, nowMs: number): ClusterStatsFigures {
  const notes = createFigureNotes();
  const crashes = notes.valueOf("crashes", state.crashes) ?? [];
  const iops = notes.valueOf("iops", state.clientIo);
  const stats = {
    id: state.fsid,
    status: state.health.status,
    crashes: recentCrashes(crashes, nowMs).map((crash) => ({ description: crashSentence(crash) })),
    services: servicesFrom(state, notes),
    data: dataFrom(state, notes),
    ...(iops && { iops: iopsFrom(iops) }),
  };
  const { missing, clamped } = notes;
  return { stats, missing, clamped };
}

/**
 * Returns the number of recent crashes, the only part of an answer that changes with time alone. For one state the number
 * identifies the set of recent crashes, since these always expire in the same order.
 */
export function recentCrashCount({ crashes }: Pick<CephState, "crashes">, nowMs: number): number {
  return "ok" in crashes ? recentCrashes(crashes.ok, nowMs).length : 0;
}

function servicesFrom(state: CephState, notes: FigureNotes): MessageInitShape<typeof ServicesSchema> {
  const mon = notes.valueOf("services.mon", state.mons);
  const mgr = notes.valueOf("services.mgr", state.mgrs);
  const mds = notes.valueOf("services.mds", state.mdss);
  const osd = notes.valueOf("services.osd", state.osds);
  const rgw = notes.valueOf("services.rgw", state.rgws);
  return {
    ...(mon && {
      mon: {
        daemonCount: notes.int32("services.mon.daemon_count", mon.names.length),
        quorum: mon.quorum.join(","),
        ...at("createdAt", mon.mapCreatedAtMs),
        ...at("updatedAt", mon.mapModifiedAtMs),
      },
    }),
    ...(mgr && {
      mgr: {
        active: mgr.active ?? "",
        standbys: [...mgr.standbys],
        ...at("updatedAt", mgr.activeChangedAtMs),
      },
    }),
    ...(mds && { mds: mdsFrom(mds, notes) }),
    ...(osd && { osd: osdFrom(osd, notes) }),
    ...(rgw && { rgw: rgwFrom(rgw, notes) }),
  };
}

function mdsFrom({ filesystems }: CephMdss, notes: FigureNotes): MessageInitShape<typeof MdsServiceSchema> {
  const states = filesystems.flatMap(({ servers }) => servers.map(({ state }) => state));
  // A server that holds a rank is up, whatever its state; the other servers of a filesystem follow one as standbys.
  const holdsRank = (state: string) => state.startsWith("up:") && !state.startsWith("up:standby");
  const isHotStandby = (state: string) => state === "up:standby-replay";
  return {
    daemonsUp: notes.int32("services.mds.daemons_up", states.filter(holdsRank).length),
    hotStandbyCount: notes.int32("services.mds.hot_standby_count", states.filter(isHotStandby).length),
  };
}

function osdFrom(
  { osds, upChangedAtMs, inChangedAtMs }: CephOsds,
  notes: FigureNotes,
): MessageInitShape<typeof OsdServiceSchema> {
  return {
    osdCount: notes.int32("services.osd.osd_count", osds.length),
    osdUp: notes.int32("services.osd.osd_up", osds.filter(({ isUp }) => isUp).length),
    osdIn: notes.int32("services.osd.osd_in", osds.filter(({ isIn }) => isIn).length),
    ...at("osdUpUpdatedAt", upChangedAtMs),
    ...at("osdInUpdatedAt", inChangedAtMs),
  };
}

function rgwFrom({ daemons }: CephRgws, notes: FigureNotes): MessageInitShape<typeof RgwServiceSchema> {
  const distinct = (names: readonly string[]) => new Set(names.filter((name) => name !== "")).size;
  const hostCount = distinct(daemons.map(({ host }) => host));
  const zoneCount = distinct(daemons.map(({ zone }) => zone));
  return {
    activeDaemon: notes.int32("services.rgw.active_daemon", daemons.length),
    hostCount: notes.int32("services.rgw.host_count", hostCount),
    zoneCount: notes.int32("services.rgw.zone_count", zoneCount),
  };
}

function dataFrom(state: CephState, notes: FigureNotes): MessageInitShape<typeof DataSchema> {
  const volumes = notes.valueOf("data.volumes", volumeCount(state));
  const pools = notes.valueOf("data.pools", state.pools);
  const pgs = pools && notes.valueOf("data.pools.pgs", state.pgs);
  const objects = notes.valueOf("data.objects", state.objects);
  const usage = notes.valueOf("data.usage", state.usage);
  return {
    ...(volumes !== undefined && { volumes: notes.int32("data.volumes", volumes) }),
    ...(pools && {
      pools: {
        pools: notes.int32("data.pools.pools", pools.length),
        ...(pgs && {
          pgs: { activeClean: notes.int32("data.pools.pgs.active_clean", activeCleanCount(pgs)) },
        }),
      },
    }),
    ...(objects && {
      objects: {
        objectCount: notes.int32("data.objects.object_count", objects.count),
        size: bytesText(objects.storedBytes),
      },
    }),
    ...(usage && {
      usage: { used: usage.usedBytes, available: usage.availableBytes, total: usage.totalBytes },
    }),
  };
}

/** Counts RBD images and CephFS subvolumes. If either count is missing, so is the sum, which would otherwise mislead. */
function volumeCount({ rbdImageCount, subvolumeCount }: CephState): Part<number> {
  if ("missing" in rbdImageCount) {
    return { missing: `images of RBD: ${rbdImageCount.missing}` };
  }
  if ("missing" in subvolumeCount) {
    return { missing: `subvolumes of CephFS: ${subvolumeCount.missing}` };
  }
  return { ok: rbdImageCount.ok + subvolumeCount.ok };
}

/** Counts the PGs that are active and clean, including those with further states, such as scrubbing. */
function activeCleanCount({ states }: CephPgs): number {
  return states
    .filter(({ state }) => {
      const words = state.split("+");
      return words.includes("active") && words.includes("clean");
    })
    .reduce((sum, { count }) => sum + count, 0);
}

type ClientIo = Extract<CephState["clientIo"], { ok: unknown }>["ok"];

function iopsFrom(io: ClientIo): MessageInitShape<typeof IOPSSchema> {
  return {
    clientRead: throughputText(io.readBytesPerSecond, "rd"),
    clientWrite: throughputText(io.writeBytesPerSecond, "wr"),
    clientReadOps: operationsText(io.readsPerSecond, "rd"),
    clientWriteOps: operationsText(io.writesPerSecond, "wr"),
  };
}

/** Returns an object with the timestamp under this name; empty if `ms` is undefined. */
function at<Name extends string>(name: Name, ms: number | undefined): { [K in Name]?: Timestamp } {
  return (ms === undefined ? {} : { [name]: timestampFromMs(ms) }) as { [K in Name]?: Timestamp };
}
