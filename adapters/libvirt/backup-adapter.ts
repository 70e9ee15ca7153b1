/** A disk of a domain that is a volume. */
export interface VolumeUser {
  /** Of the domain. */
  readonly name: string;
  readonly uuid: string;
  /** Of the disk, e.g. `vda`. */
  readonly target: string;
  readonly isRunning: boolean;
  /** Whether the domain can only read it. */
  readonly isReadOnly: boolean;
}

/** A volume of a storage pool. */
export interface LibvirtVolume {
  readonly name: string;
  readonly path: string;
  /** As a guest sees it. */
  readonly sizeBytes: bigint;
  /** How long it is as it is stored, which `readVolume` reads. */
  readonly storedBytes: bigint;
  /** `qcow2`, `raw`, `iso`...; empty where the pool knows no formats. */
  readonly format: string;
  /** Not those that have it only as what their own volume began as. */
  readonly users: readonly VolumeUser[];
}

/** A running domain some of whose disks are to be read. */
export interface DomainBackupRequest {
  readonly name: string;
  readonly uuid: string;
  /** Of its disks, e.g. `vda`. */
  readonly targets: readonly string[];
  /** By this `endBackup` finds what is left of it after a crash. */
  readonly token: string;
}

/** Disks of a running domain as they were at one moment, while it goes on. What it overwrites is kept beside each disk. */
export interface DomainBackup {
  /** In the order of the request. */
  readonly disks: readonly { readonly target: string; readonly sizeBytes: bigint }[];
  /**
   * A disk as the guest sees it, all of its bytes, at the reader's pace; of several, one after the other or at once.
   * @throws InfraError STORAGE_VOLUME_IN_USE when the domain was stopped or the backup ended by others meanwhile,
   *   TOOL_MISSING, TOOL_FAILED, and the signal's reason
   */
  read(target: string, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** To be called whatever happened. May be called again. @throws as `endBackup` */
  end(): Promise<void>;
}

/** What a volume is to hold. */
export interface VolumeContent {
  /** What throws before its end, or has not `sizeBytes`, is none. */
  readonly content: AsyncIterable<Uint8Array>;
  readonly sizeBytes: bigint;
}

/** What reads and writes what volumes and domains' disks hold. It is a part of LibvirtAdapter. */
export interface LibvirtBackupAdapter {
  /**
   * Volumes of a pool, by name, with what uses them, read anew.
   * @throws InfraError STORAGE_POOL_NOT_FOUND and as LibvirtAdapter.read
   */
  volumesOf(pool: string): Promise<readonly LibvirtVolume[]>;

  /**
   * A volume that no running domain writes to, byte by byte as it is stored, at the reader's pace. Only with its end it is
   * known to be worth something.
   * @throws InfraError STORAGE_VOLUME_IN_USE at the beginning, or at the end when it was written to or a domain that may
   *   write to it was started meanwhile; STORAGE_POOL_NOT_FOUND, STORAGE_VOLUME_NOT_FOUND, the signal's reason, and as
   *   LibvirtAdapter.read
   */
  readVolume(pool: string, name: string, signal: AbortSignal): AsyncIterable<Uint8Array>;

  /**
   * Writes all of a raw volume, at libvirt's pace, and ends when all of it was read back and is the same: libvirt also
   * confirms what it had no room for, so make the volume with `isPreallocated`. The host may still have it in memory only.
   * When it fails, part of it may be there.
   * @param onProgress told how far it is: when all is written half of `sizeBytes`, and all when it was read back
   * @throws InfraError INVALID_FIELD when the volume is not of `sizeBytes`; STORAGE_VOLUME_IN_USE when a running domain has
   *   it, or at the end when one that has it was started meanwhile; TOOL_FAILED when the content is not of `sizeBytes` or fails by no InfraError of its own; NO_SPACE; LIBVIRT_FAILED also
   *   when something else is there; STORAGE_POOL_NOT_FOUND, STORAGE_VOLUME_NOT_FOUND, the signal's reason, and as
   *   LibvirtAdapter.read
   */
  writeVolume(
    pool: string,
    name: string,
    source: VolumeContent,
    signal: AbortSignal,
    onProgress?: (doneBytes: bigint) => void,
  ): Promise<void>;

  /**
   * Holds fast what disks of a running domain have now, all of them at the same moment, for reading.
   * @throws InfraError DOMAIN_NOT_FOUND, DOMAIN_STATE when it does not run or has no such disk, STORAGE_VOLUME_IN_USE when
   *   somebody else backs it up, LIBVIRT_UNAVAILABLE, LIBVIRT_DENIED, LIBVIRT_FAILED; nothing is left then
   */
  beginBackup(request: DomainBackupRequest, signal: AbortSignal): Promise<DomainBackup>;

  /**
   * Ends a backup that was begun with the token, also by an earlier gateway; no other is touched, and there need be none.
   * @throws InfraError LIBVIRT_UNAVAILABLE, LIBVIRT_DENIED, LIBVIRT_FAILED
   */
  endBackup(request: Pick<DomainBackupRequest, "name" | "uuid" | "token">): Promise<void>;
}
