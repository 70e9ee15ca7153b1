import type { LibvirtAdapter } from "../../../../adapters/libvirt/adapter.ts";
import type { HypervisorSettings } from "../hypervisor-settings.ts";
import type { PoolBackupsOptions } from "../pool/backups/pool-backups.ts";
import type { StoragePool } from "../pool/storage-pool.ts";

/** The systems behind backups of the storage pool. */
export type PoolBackupSystem = Pick<PoolBackupsOptions, "system" | "restic" | "settings">;

/** The systems behind the hypervisors domain. */
export interface HypervisorSystem {
  readonly libvirt: LibvirtAdapter;
  readonly settings: HypervisorSettings;
  /** The storage pool that they share; undefined if none is configured. */
  readonly pool: StoragePool | undefined;
  /** How the pool is backed up; undefined if backups are not configured. */
  readonly poolBackup?: PoolBackupSystem | undefined;
  close(): Promise<void>;
}
