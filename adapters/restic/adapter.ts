/** A backup repository and its credentials. Secrets reach the tool only through its environment. */
export interface Repository {
  /** A path on this host, or the URL of an S3 bucket and path. */
  readonly location:
    | { readonly kind: "local"; readonly path: string }
    | { readonly kind: "s3"; readonly endpoint: string; readonly path: string };
  /** Encryption password of the repository. */
  readonly password: string;
  /** S3 credentials. */
  readonly access?: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
  readonly httpProxy?: string;
  readonly httpsProxy?: string;
  /** Accept any certificate of an https endpoint. */
  readonly isTlsUnverified?: boolean;
}

/** A backup in a repository. */
export interface ResticSnapshot {
  /** The full id. */
  readonly id: string;
  readonly atMs: number;
  readonly hostname: string;
  readonly tags: readonly string[];
  /** The only file in it. */
  readonly fileName: string;
}

/** Progress of a transfer. */
export interface Transferred {
  readonly doneBytes: number;
  /** Absent if unknown. */
  readonly totalBytes?: number;
}

/** Options of all long-running commands. */
export interface TransferOptions {
  /**
   * Stops the tool within a second. Unreferenced data may remain in the repository until the next `forget`, and so may
   * the snapshot of a backup that completed at that very moment, with its tags.
   */
  readonly signal: AbortSignal;
  readonly onProgress: (transferred: Transferred) => void;
  /** Marks the processes, so that `settle` finds them after a crash of the gateway. */
  readonly token: string;
}

/**
 * Content of a backup, stored as one file: all bytes of a block device or file, or of a source that is read at restic's
 * pace.
 */
export type BackupSource = (
  | { readonly device: string; readonly sizeBytes: number }
  /** If the source fails, or does not have `sizeBytes` where that is known, no backup is kept. */
  | { readonly content: AsyncIterable<Uint8Array>; readonly sizeBytes: number | undefined }
) & { readonly fileName: string; readonly tags: readonly string[] };

/**
 * Retention policy: the number of newest snapshots to keep, and for how many of the newest days and ISO weeks to keep
 * the newest snapshot.
 */
export interface KeepPolicy {
  readonly last: number;
  readonly daily: number;
  readonly weekly: number;
}

/** A check result that `hostplane doctor` reports. */
export interface ResticFinding {
  readonly ok: boolean;
  readonly what: string;
  /** The command or edit that fixes the problem; only where `ok` is false. */
  readonly fix?: string;
}

/**
 * restic, which stores the content of block devices. The real adapter runs the `restic` program; the sandbox keeps
 * sizes and names in memory. Both pass test/adapters/restic/contract.ts.
 *
 * All methods throw InfraError: REPOSITORY_NOT_FOUND, REPOSITORY_KEY_WRONG, REPOSITORY_DENIED (credentials rejected, or
 * no space), REPOSITORY_UNREACHABLE (about a minute after the last response; ten minutes if it falls silent during a
 * transfer), REPOSITORY_LOCKED, BACKUP_DAMAGED, TOOL_MISSING, TOOL_OUTPUT, TOOL_FAILED, the signal's reason, and
 * INVALID_FIELD by the rules of names.ts. Errors contain no secrets.
 */
export interface ResticAdapter {
  readonly kind: "real" | "sandbox";

  /** Returns the command of a transfer, as argv without secrets, for plans. */
  commandOf(step: "backup" | "restore" | "forget" | "prune"): readonly string[];

  /**
   * Creates the repository unless it exists; on S3, with its bucket. Calls within this gateway are serialized. But if
   * two gateways create the same repository within seconds, one may leave a key in it that does not open it; callers
   * must prevent this.
   */
  ensureRepository(repository: Repository, signal: AbortSignal): Promise<void>;

  /**
   * Lists the snapshots that have all of the tags, oldest first; without tags, all. One whose own file is damaged is
   * left out.
   */
  list(
    repository: Repository,
    tags: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly ResticSnapshot[]>;

  /**
   * Stores all bytes of a source as one file in a new snapshot with these tags; returns its id.
   * @throws InfraError TOOL_FAILED also when the source has more or less than `sizeBytes` or cannot be read to its end,
   *   unless its own error is an InfraError; no snapshot is left then
   */
  backup(repository: Repository, source: BackupSource, options: TransferOptions): Promise<string>;

  /** Returns the number of bytes that a restore of the snapshot would write. @throws InfraError BACKUP_NOT_FOUND */
  sizeOf(repository: Repository, snapshotId: string, signal: AbortSignal): Promise<number>;

  /**
   * Writes a snapshot to the beginning of a block device or file, which must not be open elsewhere, and resolves when
   * the data is on the disk. After a failure, it may be partially written.
   * @throws InfraError BACKUP_NOT_FOUND; BACKUP_DAMAGED also when it is not of `sizeBytes`; VOLUME_IN_USE when the
   * device is
   *   mounted or held by another device (not when a process merely has it open)
   */
  restore(
    repository: Repository,
    snapshot: { readonly id: string; readonly fileName: string; readonly sizeBytes: number },
    device: string,
    options: TransferOptions,
  ): Promise<void>;

  /**
   * Reads all bytes of a snapshot, at the reader's pace. The data is valid only once the read has ended without an
   * error. Leaving the loop stops the tool.
   * @throws InfraError BACKUP_NOT_FOUND; BACKUP_DAMAGED also when it is not of `sizeBytes`
   */
  read(
    repository: Repository,
    snapshot: { readonly id: string; readonly fileName: string; readonly sizeBytes: number },
    options: TransferOptions,
  ): AsyncIterable<Uint8Array>;

  /**
   * Reads a snapshot to its end, which checks all its data, and returns its size in bytes.
   * @throws InfraError BACKUP_NOT_FOUND; BACKUP_DAMAGED also when it is not of `sizeBytes`
   */
  verify(
    repository: Repository,
    snapshot: { readonly id: string; readonly fileName: string; readonly sizeBytes: number },
    options: TransferOptions,
  ): Promise<number>;

  /**
   * Removes snapshots; data that only they used stays until `prune`. Ignores snapshots that no longer exist. Requires
   * exclusive access to the repository, else fails with REPOSITORY_LOCKED; locks of dead processes are removed.
   */
  forget(repository: Repository, snapshotIds: readonly string[], options: TransferOptions): Promise<void>;

  /**
   * Frees the space of data that no snapshot uses. May be interrupted and started again. Requires exclusive access, as
   * `forget`.
   */
  prune(repository: Repository, options: TransferOptions): Promise<void>;

  /**
   * Returns the ids of the snapshots with all of these tags that a policy does not keep. A policy of zeros keeps all.
   * @throws InfraError INVALID_FIELD without any tag, which would include snapshots of other users
   */
  expired(
    repository: Repository,
    tags: readonly string[],
    keep: KeepPolicy,
    signal: AbortSignal,
  ): Promise<readonly string[]>;

  /** Stops processes of an earlier gateway that are marked with the token, and resolves once they are gone. */
  settle(token: string): Promise<void>;

  /** Checks the restic installation. Never throws. */
  inspect(): Promise<{ readonly version: string | undefined; readonly findings: readonly ResticFinding[] }>;

  /** Stops the running tools, whose calls fail with SHUTTING_DOWN, and resolves once they are gone. */
  close(): Promise<void>;
}
