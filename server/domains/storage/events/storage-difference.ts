/** A change of a cluster. */
export interface StorageDifference {
  readonly type: StorageEventType;
  /** Part of the cluster that changed, for example `["osds", "3"]`; empty for the cluster itself. */
  readonly part: readonly string[];
  /** JSON of a hostplane.v1.Event with only its detail set. */
  readonly detail:
    | { readonly clusterHealth: HealthFacts }
    | { readonly cephDaemon: DaemonFacts }
    | { readonly cephSpace: SpaceFacts }
    | { readonly cephCrash: CrashFacts };
}

export type StorageEventType =
  | "cluster.health"
  | "osd.added"
  | "osd.removed"
  | "osd.up"
  | "osd.down"
  | "osd.in"
  | "osd.out"
  | "mon.joined"
  | "mon.left"
  | "mgr.active"
  | "mgr.none"
  | "mds.changed"
  | "rgw.added"
  | "rgw.removed"
  | "osd.nearFull"
  | "osd.enough"
  | "pool.nearFull"
  | "pool.enough"
  | "crash.reported"
  | "crash.archived";

export interface HealthFacts {
  /** fsid of the cluster. */
  readonly cluster: string;
  readonly status: string;
  readonly previousStatus: string;
  readonly raised: readonly string[];
  readonly cleared: readonly string[];
}

export interface DaemonFacts {
  readonly name: string;
  readonly host: string;
  readonly state: string;
  readonly previousState: string;
}

export interface SpaceFacts {
  readonly name: string;
  /** Decimal string, which is the JSON form of 64-bit integers. */
  readonly usedBytes: string;
  readonly totalBytes: string;
}

export interface CrashFacts {
  readonly id: string;
  readonly entity: string;
  readonly host: string;
  /** RFC 3339; absent if the crash report has no time. */
  readonly at?: string;
  readonly what: string;
}
