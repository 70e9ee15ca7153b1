/** Where backups are stored, and what opens it. Secrets reach the tool by its environment alone. */
export interface Repository {
  /** A path of this host, or the URL of an S3 bucket and path. */
  readonly location:
    | { readonly kind: "local"; readonly path: string }
    | { readonly kind: "s3"; readonly endpoint: string; readonly path: string };
  /** What the content is encrypted with. */
  readonly password: string;
  /** Of S3. */
  readonly access?: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
  readonly httpProxy?: string;
  readonly httpsProxy?: string;
  /** Take whatever certificate an https endpoint shows. */
  readonly isTlsUnverified?: boolean;
}

/** A backup in a repository. */
export interface ResticSnapshot {
  /** The whole id. */
  readonly id: string;
  readonly atMs: number;
  readonly hostname: string;
  readonly tags: readonly string[];
  /** The one file it holds. */
  readonly fileName: string;
}

/** How far a transfer is. */
export interface Transferred {
  readonly doneBytes: number;
  /** Left out where nobody knows. */
  readonly totalBytes?: number;
}

/** What is common to everything that takes long. */
export interface TransferOptions {
  /**
   * Stops the tool: it is gone within a second. In the repository may remain data that nobody refers to, until the next
   * `forget`, and the snapshot of a backup that was complete in that very moment, under its tags.
   */
  readonly signal: AbortSignal;
  readonly onProgress: (transferred: Transferred) => void;
  /** Marks the processes, so that `settle` finds them after a crash of the gateway. */
  readonly token: string;
}

/** What a backup stores: as one file, all bytes of a block device or file, or of a source that is read at restic's pace. */
export type BackupSource = (
  | { readonly device: string; readonly sizeBytes: number }
  /** A source that throws before its end, or has not `sizeBytes` where that is known, is no backup. */
  | { readonly content: AsyncIterable<Uint8Array>; readonly sizeBytes: number | undefined }
) & { readonly fileName: string; readonly tags: readonly string[] };

/** Of how many of the newest days, and ISO weeks, to keep the newest one, and how many of the newest at all. */
export interface KeepPolicy {
  readonly last: number;
  readonly daily: number;
  readonly weekly: number;
}

/** Something `hostplane doctor` tells about the system. */
export interface ResticFinding {
  readonly ok: boolean;
  readonly what: string;
  /** The command or edit that would mend it; only where `ok` is false. */
  readonly fix?: string;
}

/**
 * restic, which stores what block devices hold. The real one runs the `restic` program; the sandbox keeps sizes and names
 * in memory. Both pass test/adapters/restic/contract.ts.
 *
 * All methods throw InfraError: REPOSITORY_NOT_FOUND, REPOSITORY_KEY_WRONG, REPOSITORY_DENIED (its credentials, or no room),
 * REPOSITORY_UNREACHABLE (about a minute after it was last heard of; ten minutes when it falls silent in the midst of a
 * transfer), REPOSITORY_LOCKED, BACKUP_DAMAGED, TOOL_MISSING, TOOL_OUTPUT, TOOL_FAILED, the signal's reason, and INVALID_FIELD
 * by the rules of names.ts. No error holds a secret.
 */
export interface ResticAdapter {
  readonly kind: "real" | "sandbox";

  /** The command of a transfer, as argv without secrets, for plans. */
  commandOf(step: "backup" | "restore" | "forget" | "prune"): readonly string[];

  /**
   * Makes the repository unless it is there, on S3 with its bucket. Two calls here do not meet; but of two gateways that make
   * the same repository within the same seconds one can leave a key in it by which it does not open: callers see to that.
   */
  ensureRepository(repository: Repository, signal: AbortSignal): Promise<void>;

  /** Those that carry all of the tags, oldest first; all, without tags. One whose own file is damaged is left out. */
  list(
    repository: Repository,
    tags: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly ResticSnapshot[]>;

  /**
   * Stores all bytes of a source as one file in a new snapshot with these tags; returns its id.
   * @throws InfraError TOOL_FAILED also when the source holds more or less than `sizeBytes` or cannot be read to its end,
   *   unless it says why by an InfraError of its own; then no snapshot is left
   */
  backup(repository: Repository, source: BackupSource, options: TransferOptions): Promise<string>;

  /** Bytes that a restore of the snapshot would write. @throws InfraError BACKUP_NOT_FOUND */
  sizeOf(repository: Repository, snapshotId: string, signal: AbortSignal): Promise<number>;

  /**
   * Writes a snapshot to the beginning of a block device or file, which nothing else may have open meanwhile, and ends when
   * it is on the disk. When it fails, part of it may be there.
   * @throws InfraError BACKUP_NOT_FOUND; BACKUP_DAMAGED also when it is not of `sizeBytes`; VOLUME_IN_USE when the device is
   *   mounted or held by another device (not when a process merely has it open)
   */
  restore(
    repository: Repository,
    snapshot: { readonly id: string; readonly fileName: string; readonly sizeBytes: number },
    device: string,
    options: TransferOptions,
  ): Promise<void>;

  /**
   * All bytes of a snapshot, at the reader's pace. Only with its end it is known to be worth something. Leaving the loop
   * stops the tool.
   * @throws InfraError BACKUP_NOT_FOUND; BACKUP_DAMAGED also when it is not of `sizeBytes`
   */
  read(
    repository: Repository,
    snapshot: { readonly id: string; readonly fileName: string; readonly sizeBytes: number },
    options: TransferOptions,
  ): AsyncIterable<Uint8Array>;

  /**
   * Reads a snapshot to its end, which checks all its data, and returns how many bytes there were.
   * @throws InfraError BACKUP_NOT_FOUND; BACKUP_DAMAGED also when it is not of `sizeBytes`
   */
  verify(
    repository: Repository,
    snapshot: { readonly id: string; readonly fileName: string; readonly sizeBytes: number },
    options: TransferOptions,
  ): Promise<number>;

  /**
   * Removes snapshots; the data that only they used stays until `prune`. Those that are gone already are no error. Nobody
   * else may work on the repository meanwhile: REPOSITORY_LOCKED; locks of processes that have died are removed.
   */
  forget(repository: Repository, snapshotIds: readonly string[], options: TransferOptions): Promise<void>;

  /**
   * Frees the room of data that no snapshot uses. May be stopped and begun again. Nobody else may work on the repository
   * meanwhile, as for `forget`.
   */
  prune(repository: Repository, options: TransferOptions): Promise<void>;

  /**
   * Ids of the snapshots with all of these tags that a policy does not keep. A policy of zeros keeps all.
   * @throws InfraError INVALID_FIELD without any tag, which would be about everybody's
   */
  expired(
    repository: Repository,
    tags: readonly string[],
    keep: KeepPolicy,
    signal: AbortSignal,
  ): Promise<readonly string[]>;

  /** Stops processes of an earlier gateway that carry the token, and resolves once they are gone. */
  settle(token: string): Promise<void>;

  /** What is there and what is missing. Never throws. */
  inspect(): Promise<{ readonly version: string | undefined; readonly findings: readonly ResticFinding[] }>;

  /** Stops the tools that still run, whose calls end with SHUTTING_DOWN, and resolves once they are gone. */
  close(): Promise<void>;
}
