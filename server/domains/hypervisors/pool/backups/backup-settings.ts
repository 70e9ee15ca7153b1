/** What the configuration says of backups of the storage pool. */
export interface PoolBackupSettings {
  /** A directory of this host. */
  readonly repository: string;
  /** Share of a thick LVM volume that may change while it is backed up. */
  readonly snapshotPercent: number;
  /** A younger backup is not deleted. */
  readonly minimumAgeHours: number;
}

/** Where it says so. */
export const poolBackupKey = "hypervisors.pool.backup";
