/** A VM's disk that is a volume. */
export interface VolumeUser {
  /** Name of the VM. */
  readonly name: string;
  readonly uuid: string;
  /** Target of the disk, e.g. `vda`. */
  readonly target: string;
  readonly isRunning: boolean;
  /** Whether the VM can only read it. */
  readonly isReadOnly: boolean;
}

/** A volume of a storage pool. */
export interface LibvirtVolume {
  readonly name: string;
  readonly path: string;
  /** Size that a guest sees. */
  readonly sizeBytes: bigint;
  /** Size as stored, which is what `readVolume` reads. */
  readonly storedBytes: bigint;
  /** `qcow2`, `raw`, `iso`, ...; empty if the pool has no formats. */
  readonly format: string;
  /** VMs that use it, except those for which it is only the backing file of another volume. */
  readonly users: readonly VolumeUser[];
}

/** A running VM and the disks to read. */
export interface DomainBackupRequest {
  readonly name: string;
  readonly uuid: string;
  /** Targets of the disks, e.g. `vda`. */
  readonly targets: readonly string[];
  /** Token by which `endBackup` finds the backup after a crash. */
  readonly token: string;
}

/**
 * Disks of a running VM as they were at one point in time. The VM continues to run; data that it overwrites is first
 * copied to a file beside each disk.
 */
export interface DomainBackup {
  /** The disks, in the order of the request. */
  readonly disks: readonly { readonly target: string; readonly sizeBytes: bigint }[];
  /**
   * Reads all bytes of a disk as the guest sees it, at the reader's pace. Several disks may be read in sequence or at
   * once.
   * @throws InfraError STORAGE_VOLUME_IN_USE if the VM was stopped or the backup ended by another client meanwhile,
   *   TOOL_MISSING, TOOL_FAILED, and the signal's reason
   */
  read(target: string, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Must be called in every case; may be called again. @throws as `endBackup` */
  end(): Promise<void>;
}

/** New content of a volume. */
export interface VolumeContent {
  /** Valid only if it ends without an error after exactly `sizeBytes`. */
  readonly content: AsyncIterable<Uint8Array>;
  readonly sizeBytes: bigint;
}

/** Reads and writes the content of volumes and VM disks. Part of LibvirtAdapter. */
export interface LibvirtBackupAdapter {
  /**
   * Lists the volumes of a pool, by name, with their users; uncached.
   * @throws InfraError STORAGE_POOL_NOT_FOUND and as LibvirtAdapter.read
   */
  volumesOf(pool: string): Promise<readonly LibvirtVolume[]>;

  /**
   * Reads a volume that no running VM writes to, byte by byte as stored, at the reader's pace. The data is valid only
   * once the read has ended without an error.
   * @throws InfraError STORAGE_VOLUME_IN_USE at the beginning, or at the end if it was written to or a VM that may
   * write
   *   to it was started meanwhile; STORAGE_POOL_NOT_FOUND, STORAGE_VOLUME_NOT_FOUND, the signal's reason, and as
   *   LibvirtAdapter.read
   */
  readVolume(pool: string, name: string, signal: AbortSignal): AsyncIterable<Uint8Array>;

  /**
   * Writes the whole of a raw volume, at libvirt's pace, and resolves once everything has been read back and compared.
   * libvirt also confirms writes for which it had no space, so create the volume with `isPreallocated`. The data may
   * still be only in the host's memory. After a failure, the volume may be partially written.
   * @param onProgress called with the progress, which is half of `sizeBytes` when everything is written, and all of it
   * when it was read back
   * @throws InfraError INVALID_FIELD when the volume is not of `sizeBytes`; STORAGE_VOLUME_IN_USE when a running VM has
   *   it, or at the end when one that has it was started meanwhile; TOOL_FAILED when the content is not of `sizeBytes`
   *   or fails with an error other than an InfraError; NO_SPACE; LIBVIRT_FAILED also when the data read back differs;
   *   STORAGE_POOL_NOT_FOUND, STORAGE_VOLUME_NOT_FOUND, the signal's reason, and as LibvirtAdapter.read
   */
  writeVolume(
    pool: string,
    name: string,
    source: VolumeContent,
    signal: AbortSignal,
    onProgress?: (doneBytes: bigint) => void,
  ): Promise<void>;

  /**
   * Freezes the content of disks of a running VM for reading, all at the same point in time.
   * @throws InfraError DOMAIN_NOT_FOUND, DOMAIN_STATE when it is not running or has no such disk, STORAGE_VOLUME_IN_USE
   *   when another client is backing it up, LIBVIRT_UNAVAILABLE, LIBVIRT_DENIED, LIBVIRT_FAILED; nothing is left behind
   *   then
   */
  beginBackup(request: DomainBackupRequest, signal: AbortSignal): Promise<DomainBackup>;

  /**
   * Ends a backup that was begun with the token, even by an earlier gateway. Does nothing if there is none, and never
   * affects other backups.
   * @throws InfraError LIBVIRT_UNAVAILABLE, LIBVIRT_DENIED, LIBVIRT_FAILED
   */
  endBackup(request: Pick<DomainBackupRequest, "name" | "uuid" | "token">): Promise<void>;
}
