import type { Part } from "../host/part-of-state.ts";
import type { Snapshot } from "../host/snapshot.ts";

/** A health check that Ceph raises. */
export interface CephHealthCheck {
  /** E.g. `OSD_DOWN`. */
  readonly code: string;
  readonly severity: "HEALTH_WARN" | "HEALTH_ERR";
  readonly summary: string;
  /** Number of affected objects; 0 if Ceph does not count them. */
  readonly count: number;
  /** Whether the check was muted in Ceph. */
  readonly isMuted: boolean;
}

/** Times are milliseconds since 1970; undefined for what has never happened. */
export interface CephMons {
  readonly names: readonly string[];
  /** Names of the monitors currently in the quorum. */
  readonly quorum: readonly string[];
  readonly mapCreatedAtMs: number | undefined;
  readonly mapModifiedAtMs: number | undefined;
}

export interface CephMgrs {
  /** Undefined if no manager is active. */
  readonly active: string | undefined;
  readonly standbys: readonly string[];
  /** When the active manager last changed. */
  readonly activeChangedAtMs: number | undefined;
}

/** Metadata servers. */
export interface CephMdss {
  readonly filesystems: readonly {
    readonly name: string;
    /** Number of servers that should be active. */
    readonly maxRanks: number;
    /** State in Ceph's notation: `up:active`, `up:standby-replay` (a hot standby), `up:replay`, ... */
    readonly servers: readonly { readonly name: string; readonly state: string }[];
  }[];
  /** Names of servers not assigned to a filesystem. */
  readonly standbys: readonly string[];
}

export interface CephOsd {
  readonly id: number;
  readonly isUp: boolean;
  readonly isIn: boolean;
  /** Host and device class, e.g. `ssd`; undefined where CRUSH does not have them. */
  readonly host: string | undefined;
  readonly deviceClass: string | undefined;
  /** Relative share of data that it is assigned, 0 to 1. */
  readonly reweight: number;
  /**
   * Epochs of the OSD map, which increases by one with each change, in which the OSD last came up and last went down; 0
   * for never. They also reveal changes between two reads. Ceph does not record the times: `down_stamp` of 16.2 stays
   * 0.
   */
  readonly upFromEpoch: number;
  readonly downAtEpoch: number;
}

export interface CephOsds {
  readonly mapEpoch: number;
  readonly osds: readonly CephOsd[];
  readonly upChangedAtMs: number | undefined;
  readonly inChangedAtMs: number | undefined;
  /** Ratios of an OSD's space, 0 to 1, from which on Ceph warns, and rejects writes. */
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
  /** Number of copies or chunks of each object, and how many of them must be available for writes. */
  readonly size: number;
  readonly minSize: number;
  /**
   * Number of copies or chunks that may be lost: size - 1 for copies, or the m of an erasure code; undefined when its
   * profile is not known.
   */
  readonly redundancy: number | undefined;
  readonly pgCount: number;
  /**
   * Type of the CRUSH failure domain, e.g. `host`, and how many of those there are; undefined when its rule cannot be
   * interpreted.
   */
  readonly failureDomain: { readonly type: string; readonly count: number } | undefined;
  /** Applications that use the pool: `rbd`, `cephfs`, `rgw`, ... */
  readonly applications: readonly string[];
  /** Undefined without a quota. */
  readonly quotaBytes: bigint | undefined;
  readonly quotaObjects: number | undefined;
  /** Undefined for a pool so new that it has no statistics yet. */
  readonly usage: CephPoolUsage | undefined;
}

export interface CephPoolUsage {
  readonly objectCount: number;
  /** Data that clients have stored. */
  readonly storedBytes: bigint;
  /** Including all copies. */
  readonly usedBytes: bigint;
  /** Space left for clients. */
  readonly availableBytes: bigint;
}

export interface CephPgs {
  readonly count: number;
  /** E.g. `active+clean`: states joined by `+`. */
  readonly states: readonly { readonly state: string; readonly count: number }[];
}

/** Current client I/O, per second. */
export interface CephClientIo {
  readonly readBytesPerSecond: number;
  readonly writeBytesPerSecond: number;
  readonly readsPerSecond: number;
  readonly writesPerSecond: number;
}

/** Data that is copied or moved to restore redundancy or balance, per second. */
export interface CephRecovery {
  readonly bytesPerSecond: number;
  readonly objectsPerSecond: number;
}

export interface CephCrash {
  readonly id: string;
  /** The crashed daemon, e.g. `osd.1`, and its host. */
  readonly entity: string;
  readonly host: string;
  readonly atMs: number;
  /** The cause, as far as the report has it: a failed assertion, or the program. */
  readonly what: string;
  readonly version: string;
  readonly isArchived: boolean;
}

/** Scrub times of the placement group of a pool whose last scrub is the oldest. */
export interface CephPoolScrubs {
  readonly poolId: number;
  readonly oldestScrubAtMs: number | undefined;
  readonly oldestDeepScrubAtMs: number | undefined;
}

/** A host and its daemons, e.g. `osd.0`. */
export interface CephHost {
  readonly name: string;
  readonly daemons: readonly string[];
}

/** Everything that the gateway reads from a cluster. A `missing` concerns only its own part. */
export interface CephState {
  readonly fsid: string;
  readonly health: {
    readonly status: "HEALTH_OK" | "HEALTH_WARN" | "HEALTH_ERR";
    readonly checks: readonly CephHealthCheck[];
  };
  /** Number of slow client operations, from the check SLOW_OPS. */
  readonly slowOperationCount: number;
  readonly mons: Part<CephMons>;
  readonly mgrs: Part<CephMgrs>;
  readonly mdss: Part<CephMdss>;
  readonly osds: Part<CephOsds>;
  readonly rgws: Part<CephRgws>;
  readonly hosts: Part<readonly CephHost[]>;
  readonly pools: Part<readonly CephPool[]>;
  // Statistics of the manager are missing while none is active, since the monitors only repeat its last values.
  readonly pgs: Part<CephPgs>;
  readonly objects: Part<{ readonly count: number; readonly storedBytes: bigint }>;
  readonly usage: Part<{
    readonly usedBytes: bigint;
    readonly availableBytes: bigint;
    readonly totalBytes: bigint;
  }>;
  readonly clientIo: Part<CephClientIo>;
  readonly recovery: Part<CephRecovery>;
  readonly crashes: Part<readonly CephCrash[]>;
  // These are read at most every 15 s, and scrubs every minute.
  readonly osdUsage: Part<readonly CephOsdUsage[]>;
  readonly rbdImageCount: Part<number>;
  readonly subvolumeCount: Part<number>;
  readonly scrubs: Part<readonly CephPoolScrubs[]>;
}

export interface CephSnapshot extends Snapshot<CephState> {
  /** Why there is no newer state; undefined when the last refresh succeeded. */
  readonly staleBecause: string | undefined;
}

export interface CephReader {
  /** Whether the state is refreshed more often for this reader; true by default. */
  readonly isWatching?: boolean;
}

/** A check result that `hostplane doctor` and ListBackends report. */
export interface CephFinding {
  readonly ok: boolean;
  readonly what: string;
  /** The command or edit that fixes the problem; only where `ok` is false. */
  readonly fix?: string;
}

export interface CephInspection {
  /** Version of the monitors, e.g. `16.2.15`; undefined when they cannot be reached. */
  readonly version: string | undefined;
  readonly findings: readonly CephFinding[];
}

/**
 * A Ceph cluster. The real adapter queries its monitors and manager through librados; the sandbox keeps a cluster in
 * memory. Both pass test/adapters/ceph/contract.ts.
 */
export interface CephAdapter {
  readonly kind: "real" | "sandbox";

  /**
   * Returns the current state. All readers share one refresh: every 2 s while a watching reader is subscribed or has
   * read in the last 15 s, else every 15 s. A reader waits for the first state. A watching reader waits at most half a
   * second for a newer state if nothing was watching before. A state that cannot be refreshed is still returned for 30
   * s, with its age.
   * @throws InfraError CEPH_UNAVAILABLE, CEPH_DENIED, CEPH_FAILED or TOOL_MISSING (librados) when there is no state
   * that
   *   recent, and the signal's reason
   */
  read(signal?: AbortSignal, reader?: CephReader): Promise<CephSnapshot>;

  /**
   * Calls back after each refresh that changed the state, and when refreshes start or stop failing. Returns a function
   * that unsubscribes.
   */
  subscribe(onChange: () => void, reader?: CephReader): () => void;

  /** Does not query the cluster. @throws InfraError CEPH_OPERATOR_MISSING (no operator key is configured) */
  assertOperator(): void;

  /**
   * Archives a crash. Does nothing if it is archived already. A read that begins afterwards includes it.
   * @throws InfraError CRASH_NOT_FOUND, and as `assertOperator` and `read`
   */
  archiveCrash(id: string): Promise<void>;

  /** Checks the access to the cluster. Never throws. */
  inspect(): Promise<CephInspection>;

  close(): Promise<void>;
}
