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
  readonly totalBytes: number;
}

/** What is common to everything that takes long. */
export interface TransferOptions {
  /** Stops the tool: it is gone within a second, and so is what it began in the repository, but for data nobody refers to. */
  readonly signal: AbortSignal;
  readonly onProgress: (transferred: Transferred) => void;
  /** Marks the process, so that `settle` finds it after a crash of the gateway. */
  readonly token: string;
}

/** How many of the newest of each to keep. */
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
 * All methods throw InfraError: REPOSITORY_NOT_FOUND, REPOSITORY_KEY_WRONG, REPOSITORY_DENIED (its credentials),
 * REPOSITORY_UNREACHABLE, REPOSITORY_LOCKED, TOOL_MISSING, TOOL_FAILED, and the signal's reason.
 */
export interface ResticAdapter {
  readonly kind: "real" | "sandbox";

  /** The command of a transfer, as argv without secrets, for plans. */
  commandOf(step: "backup" | "restore" | "forget"): readonly string[];

  /** Makes the repository unless it is there. */
  ensureRepository(repository: Repository, signal: AbortSignal): Promise<void>;

  /** Those that carry all of the tags, oldest first. */
  list(
    repository: Repository,
    tags: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly ResticSnapshot[]>;

  /**
   * Stores all bytes of a block device or file as one file in a new snapshot with these tags; returns its id.
   * @throws InfraError TOOL_FAILED also when the device cannot be read to its end
   */
  backup(
    repository: Repository,
    source: {
      readonly device: string;
      readonly sizeBytes: number;
      readonly fileName: string;
      readonly tags: readonly string[];
    },
    options: TransferOptions,
  ): Promise<string>;

  /** Bytes that a restore of the snapshot would write. @throws InfraError BACKUP_NOT_FOUND */
  sizeOf(repository: Repository, snapshotId: string, signal: AbortSignal): Promise<number>;

  /**
   * Writes a snapshot to the beginning of a block device or file, which nothing else may have open meanwhile, and ends when
   * it is on the disk.
   * @throws InfraError BACKUP_NOT_FOUND, VOLUME_IN_USE when the device is open
   */
  restore(
    repository: Repository,
    snapshot: { readonly id: string; readonly fileName: string; readonly sizeBytes: number },
    device: string,
    options: TransferOptions,
  ): Promise<void>;

  /**
   * Reads a snapshot to its end, which checks all its data, and returns how many bytes there were.
   * @throws InfraError BACKUP_NOT_FOUND, BACKUP_DAMAGED
   */
  verify(
    repository: Repository,
    snapshot: { readonly id: string; readonly fileName: string; readonly sizeBytes: number },
    options: TransferOptions,
  ): Promise<number>;

  /** Removes snapshots and the data that only they used. Those that are gone already are no error. */
  forget(repository: Repository, snapshotIds: readonly string[], options: TransferOptions): Promise<void>;

  /** Ids of the snapshots with these tags that a policy does not keep. */
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

  /** Waits for the tools that still run. */
  close(): Promise<void>;
}
