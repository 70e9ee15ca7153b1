/** One thing that happened to a cluster. */
export interface StorageDifference {
  readonly type: StorageEventType;
  /** Which part of the cluster it is about, e.g. `["osds", "3"]`; empty: itself. */
  readonly part: readonly string[];
  /** JSON of hostplane.v1.Event with its detail alone. */
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
  /** The fsid. */
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
  /** Decimals, as JSON has 64 bits. */
  readonly usedBytes: string;
  readonly totalBytes: string;
}

export interface CrashFacts {
  readonly id: string;
  readonly entity: string;
  readonly host: string;
  /** RFC 3339; none where the report does not tell. */
  readonly at?: string;
  readonly what: string;
}
