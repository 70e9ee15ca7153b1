/** Configuration of the storage pool's backups. */
export interface PoolBackupSettings {
  /** A directory of this host. */
  readonly repository: string;
  /** Share of a thick LVM volume that may change while it is backed up, in percent. */
  readonly snapshotPercent: number;
  /** Backups younger than this are not deleted. */
  readonly minimumAgeHours: number;
}

/** Path of the settings in the configuration. */
export const poolBackupKey = "hypervisors.pool.backup";
