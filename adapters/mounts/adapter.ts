import type { DeviceNumber } from "../host/device-number.ts";

/** Type of a file system that the adapter creates, mounts and grows. */
export type FileSystemType = "ext4" | "xfs";

/** One mount of the host, as proc(5)'s mountinfo reports it. */
export interface Mount {
  /** The mount point. Several mounts may have the same one; the last of them is visible. */
  readonly path: string;
  /** The device of the file system. For a bind mount of a device node, that of the file system with the node. */
  readonly device: DeviceNumber;
  /** The block device whose node is mounted; undefined if the mount is a directory. */
  readonly node: DeviceNumber | undefined;
  readonly fileSystem: string;
  readonly source: string;
  /** Flags of this mount, such as `ro`, `nosuid` and `noatime`. */
  readonly flags: readonly string[];
  /**
   * Options of the file system, which all its mounts share, such as `sync`. After an I/O error one of `faultOptions` is among them.
   */
  readonly fileSystemOptions: readonly string[];
}

/** What is on a block device, and whether it is in use. */
export interface DeviceContent {
  /**
   * Type as blkid(8) names it: a file system, `LVM2_member`, or a partition table such as `gpt`. Undefined for an empty device, which
   * can be read and begins with zeros.
   */
  readonly type: string | undefined;
  /** Mounted in any mount namespace, or opened exclusively by a program or the kernel. */
  readonly busy: boolean;
}

/** Use of a file system. */
export interface FileSystemUse {
  readonly totalBytes: bigint;
  readonly usedBytes: bigint;
  /** Bytes that programs other than root's may still write. */
  readonly availableBytes: bigint;
  readonly totalInodes: bigint;
  readonly usedInodes: bigint;
  readonly availableInodes: bigint;
  /** Whether its root cannot be read: XFS shuts itself down after some I/O errors, which its mount does not show. */
  readonly isShutDown: boolean;
}

/** What a path of the host is, without following symbolic links. */
export type TargetKind = "absent" | "directory" | "file" | "other";

/** One change of file systems or mounts. Paths have passed `assertTargetPath`, flags `assertMountFlags`. */
export type MountStep =
  | { readonly kind: "format"; readonly device: string; readonly fileSystem: FileSystemType }
  | {
      /** Replays the journal of an ext4 file system that is not mounted, and corrects errors as far as that loses no data. */
      readonly kind: "check";
      readonly device: string;
    }
  | {
      readonly kind: "mount";
      readonly device: string;
      readonly fileSystem: FileSystemType;
      readonly path: string;
      readonly flags: readonly string[];
    }
  | {
      /** Mounts a mounted directory, or the node of a block device, at a second path. */
      readonly kind: "bind";
      readonly source: string;
      readonly path: string;
      readonly readOnly: boolean;
      /** Flags of the first mount that a read-only one would lose (`keptFlags`). */
      readonly flags: readonly string[];
    }
  | { readonly kind: "unmount"; readonly path: string }
  | {
      /** Grows a mounted file system to the size of its device. Does nothing if it already has that size. */
      readonly kind: "grow";
      readonly device: string;
      readonly fileSystem: FileSystemType;
      readonly path: string;
    }
  | { readonly kind: "createDirectory" | "createFile"; readonly path: string }
  | {
      /** Removes an empty directory, or an empty file. Does nothing if there is none. */
      readonly kind: "removeTarget";
      readonly path: string;
    };

/** A check result that `hostplane doctor` reports. */
export interface MountFinding {
  readonly ok: boolean;
  readonly what: string;
  /** The command or edit that fixes the problem; only where `ok` is false. */
  readonly fix?: string;
}

/**
 * File systems and mounts of the host. The real adapter works in the host's mount namespace, wherever the gateway runs; the
 * sandbox applies the same rules in memory.
 */
export interface MountAdapter {
  readonly kind: "real" | "sandbox";

  /** Returns the mounts of the host, in the order in which they were made. @throws InfraError MOUNTS_UNAVAILABLE */
  mounts(): Promise<readonly Mount[]>;

  /**
   * Returns what a path is. No directory on the way may be a symbolic link.
   * @param field the request's field with the path, for the violation
   * @throws InfraError INVALID_FIELD for a path through a symbolic link or a file; MOUNTS_UNAVAILABLE
   */
  targetKind(path: string, field: string): Promise<TargetKind>;

  /**
   * Reads what is on a block device.
   * @throws InfraError TOOL_MISSING, TOOL_FAILED, TOOL_OUTPUT, MOUNTS_UNAVAILABLE
   */
  content(device: string): Promise<DeviceContent>;

  /** Returns the use of the file system that is mounted at the path. @throws InfraError TOOL_FAILED, MOUNTS_UNAVAILABLE */
  use(path: string): Promise<FileSystemUse>;

  /** Returns the argv of the command that does what `run` does. */
  commandOf(step: MountStep): readonly string[];

  /**
   * Makes one change. A command that it runs is never killed. Nothing is forced: a device with content is not formatted, a busy
   * mount is not unmounted.
   * @throws InfraError VOLUME_IN_USE, INVALID_FIELD, TOOL_MISSING, TOOL_FAILED, MOUNTS_UNAVAILABLE
   */
  run(step: MountStep): Promise<void>;

  /** Checks the tools, and the roots for target paths. Never throws. */
  inspect(roots: readonly string[]): Promise<readonly MountFinding[]>;
}
