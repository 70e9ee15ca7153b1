import type { Part } from "../host/part-of-state.ts";
import type { Snapshot } from "../host/snapshot.ts";

/** Something that Ceph complains about. */
export interface CephHealthCheck {
  /** As `OSD_DOWN`. */
  readonly code: string;
  readonly severity: "HEALTH_WARN" | "HEALTH_ERR";
  readonly summary: string;
  /** How many things it is about; 0 where Ceph counts none. */
  readonly count: number;
  /** Whether somebody has told Ceph that it is no matter. */
  readonly isMuted: boolean;
}

/** Times are milliseconds since 1970; undefined for what has never happened. */
export interface CephMons {
  readonly names: readonly string[];
  /** Those of them that agree now. */
  readonly quorum: readonly string[];
  readonly mapCreatedAtMs: number | undefined;
  readonly mapModifiedAtMs: number | undefined;
}

export interface CephMgrs {
  /** Undefined while there is none. */
  readonly active: string | undefined;
  readonly standbys: readonly string[];
  /** When the active one last changed. */
  readonly activeChangedAtMs: number | undefined;
}

/** Metadata servers. */
export interface CephMdss {
  readonly filesystems: readonly {
    readonly name: string;
    /** How many servers are to be active. */
    readonly maxRanks: number;
    /** State as Ceph writes it: `up:active`, `up:standby-replay` (a hot standby), `up:replay`... */
    readonly servers: readonly { readonly name: string; readonly state: string }[];
  }[];
  /** Those that belong to no filesystem yet. */
  readonly standbys: readonly string[];
}

export interface CephOsd {
  readonly id: number;
  readonly isUp: boolean;
  readonly isIn: boolean;
  /** Where it runs and what its device is, e.g. `ssd`; undefined where CRUSH does not say. */
  readonly host: string | undefined;
  readonly deviceClass: string | undefined;
  /** Share of the data that it is given, 0 to 1. */
  readonly reweight: number;
  /**
   * Epochs of the OSD map, which grows by one with each change of it, in which it last came up and last went down; 0 for never.
   * They tell also what came and went between two readings. Ceph keeps no times of it: `down_stamp` of 16.2 stays 0.
   */
  readonly upFromEpoch: number;
  readonly downAtEpoch: number;
}

export interface CephOsds {
  readonly mapEpoch: number;
  readonly osds: readonly CephOsd[];
  readonly upChangedAtMs: number | undefined;
  readonly inChangedAtMs: number | undefined;
  /** Shares of an OSD's space, 0 to 1, from which on Ceph warns of it, and takes no more writes. */
  readonly nearFullRatio: number;
  readonly fullRatio: number;
}

export interface CephOsdUsage {
  readonly id: number;
  readonly totalBytes: bigint;
  readonly usedBytes: bigint;
  readonly availableBytes: bigint;
  readonly pgCount: number;
}

/** Object gateways. */
export interface CephRgws {
  readonly daemons: readonly { readonly name: string; readonly host: string; readonly zone: string }[];
}

export interface CephPool {
  readonly id: number;
  readonly name: string;
  readonly kind: "replicated" | "erasure";
  /** Copies, or parts, of each object; and how many of them must be there for writes. */
  readonly size: number;
  readonly minSize: number;
  /** Parts of an object that may be lost: size - 1 copies, or the m of an erasure code; undefined when its profile is not known. */
  readonly redundancy: number | undefined;
  readonly pgCount: number;
  /** What no two copies share, e.g. `host`, and how many of those there are; undefined when its rule is not understood. */
  readonly failureDomain: { readonly type: string; readonly count: number } | undefined;
  /** What it is for: `rbd`, `cephfs`, `rgw`... */
  readonly applications: readonly string[];
  /** Undefined without a quota. */
  readonly quotaBytes: bigint | undefined;
  readonly quotaObjects: number | undefined;
  /** Undefined for a pool so new that nothing is counted yet. */
  readonly usage: CephPoolUsage | undefined;
}

export interface CephPoolUsage {
  readonly objectCount: number;
  /** What clients have stored. */
  readonly storedBytes: bigint;
  /** With all copies. */
  readonly usedBytes: bigint;
  /** What clients could still store. */
  readonly availableBytes: bigint;
}

export interface CephPgs {
  readonly count: number;
  /** As `active+clean`; what each says is joined by `+`. */
  readonly states: readonly { readonly state: string; readonly count: number }[];
}

/** What clients do now, by the second. */
export interface CephClientIo {
  readonly readBytesPerSecond: number;
  readonly writeBytesPerSecond: number;
  readonly readsPerSecond: number;
  readonly writesPerSecond: number;
}

export interface CephCrash {
  readonly id: string;
  /** Who crashed, e.g. `osd.1`, and on which host. */
  readonly entity: string;
  readonly host: string;
  readonly atMs: number;
  /** What was wrong, as far as the report says: a failed assertion, or the program. */
  readonly what: string;
  readonly version: string;
  readonly isArchived: boolean;
}

/** The placement group of a pool that was scrubbed the longest time ago. */
export interface CephPoolScrubs {
  readonly poolId: number;
  readonly oldestScrubAtMs: number | undefined;
  readonly oldestDeepScrubAtMs: number | undefined;
}

/** A host and the daemons on it, as `osd.0`. */
export interface CephHost {
  readonly name: string;
  readonly daemons: readonly string[];
}

/** All that the gateway reads of a cluster. What `missing` says of a part holds for that part alone. */
export interface CephState {
  readonly fsid: string;
  readonly health: {
    readonly status: "HEALTH_OK" | "HEALTH_WARN" | "HEALTH_ERR";
    readonly checks: readonly CephHealthCheck[];
  };
  /** Operations that clients have waited for too long, of the check SLOW_OPS. */
  readonly slowOperationCount: number;
  readonly mons: Part<CephMons>;
  readonly mgrs: Part<CephMgrs>;
  readonly mdss: Part<CephMdss>;
  readonly osds: Part<CephOsds>;
  readonly rgws: Part<CephRgws>;
  readonly hosts: Part<readonly CephHost[]>;
  readonly pools: Part<readonly CephPool[]>;
  // What the manager counts is missing while there is none: the monitors go on telling its last figures.
  readonly pgs: Part<CephPgs>;
  readonly objects: Part<{ readonly count: number; readonly storedBytes: bigint }>;
  readonly usage: Part<{
    readonly usedBytes: bigint;
    readonly availableBytes: bigint;
    readonly totalBytes: bigint;
  }>;
  readonly clientIo: Part<CephClientIo>;
  readonly crashes: Part<readonly CephCrash[]>;
  // These are read every 15 s at most, and scrubs every minute.
  readonly osdUsage: Part<readonly CephOsdUsage[]>;
  readonly rbdImageCount: Part<number>;
  readonly subvolumeCount: Part<number>;
  readonly scrubs: Part<readonly CephPoolScrubs[]>;
}

export interface CephSnapshot extends Snapshot<CephState> {
  /** Why there is none that is newer; undefined when the last refresh succeeded. */
  readonly staleBecause: string | undefined;
}

export interface CephReader {
  /** Whether the state is refreshed more often for its sake; it is unless told. */
  readonly isWatching?: boolean;
}

/** Something `hostplane doctor` and ListBackends tell about the system. */
export interface CephFinding {
  readonly ok: boolean;
  readonly what: string;
  /** The command or edit that would mend it; only where `ok` is false. */
  readonly fix?: string;
}

export interface CephInspection {
  /** Of the monitors, e.g. `16.2.15`; undefined when they cannot be reached. */
  readonly version: string | undefined;
  readonly findings: readonly CephFinding[];
}

/**
 * A Ceph cluster. The real one asks its monitors and manager through librados; the sandbox keeps one in memory. Both pass
 * test/adapters/ceph/contract.ts.
 */
export interface CephAdapter {
  readonly kind: "real" | "sandbox";

  /**
   * The newest state. All readers share one refresh: every 2 s while anybody that watches subscribes or has read in the last
   * 15 s, else every 15 s. A reader waits for the first state, and, if it watches, half a second at most for a newer one when
   * nobody did; what cannot be refreshed is told with its age, for 30 s.
   * @throws InfraError CEPH_UNAVAILABLE, CEPH_DENIED, CEPH_FAILED or TOOL_MISSING (librados) when there is none that young,
   *   and the signal's reason
   */
  read(signal?: AbortSignal, reader?: CephReader): Promise<CephSnapshot>;

  /** Calls back after each refresh that brought something new, and when refreshes begin or cease to fail. Returns the function that ends it. */
  subscribe(onChange: () => void, reader?: CephReader): () => void;

  /** @throws InfraError CEPH_OPERATOR_MISSING (no second key is configured), without asking the cluster */
  assertOperator(): void;

  /**
   * Has Ceph take a crash for seen. Archiving an archived one changes nothing. A read that begins afterwards sees it.
   * @throws InfraError CRASH_NOT_FOUND, and as `assertOperator` and `read`
   */
  archiveCrash(id: string): Promise<void>;

  /** What is there and what is missing. Never throws. */
  inspect(): Promise<CephInspection>;

  close(): Promise<void>;
}
