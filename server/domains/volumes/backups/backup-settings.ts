import type { BackupSchedule } from "./backup-schedule.ts";

/** What the configuration says of backups. */
export interface BackupSettings {
  /** The local repository, for requests that name no endpoint; absent: there is none. */
  readonly repository?: string;
  /** Share of a thick volume that may change while it is backed up. */
  readonly snapshotPercent: number;
  /** The S3 services that requests may name. */
  readonly allowEndpoints: readonly AllowedEndpoint[];
  /** A younger backup is not deleted. */
  readonly minimumAgeHours: number;
  /** What is backed up without being asked for; absent: nothing. */
  readonly schedules?: readonly BackupSchedule[];
}

export interface AllowedEndpoint {
  readonly url: string;
  /** Proxies that a request may name for it. */
  readonly proxies: readonly string[];
  /** Whether a request may ask to take any certificate. */
  readonly unverifiedTls: boolean;
}
