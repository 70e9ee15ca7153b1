import type { DeviceNumber } from "../../host/device-number.ts";

/** A change of the content of a volume, which takes as long as its size requires. The volumes must be active. */
export type LvmDataStep =
  | {
      /** Copies a volume to another one of at least its size, which nothing else may have open. */
      readonly kind: "copy";
      readonly volumeGroupName: string;
      readonly name: string;
      readonly sourceName: string;
      /** Number of bytes to copy. */
      readonly sizeBytes: bigint;
      /** Whether the source cannot be mounted or opened exclusively meanwhile; it must not be in use then. */
      readonly holdsSource: boolean;
    }
  | {
      /** Overwrites a volume with zeros, or discards the blocks of a thin one. Nothing else may have it open. */
      readonly kind: "wipe";
      readonly volumeGroupName: string;
      readonly name: string;
      readonly sizeBytes: bigint;
      readonly isThin: boolean;
    };

export interface LvmDataStepOptions {
  /** Stops the step; what it has written by then stays. */
  readonly signal: AbortSignal;
  /** Marks the processes of the step, for `settle`. */
  readonly token: string;
  readonly onProgress: (progress: { readonly doneBytes: number; readonly totalBytes: number }) => void;
}

/** The file system on a volume. */
export interface FileSystem {
  /** As blkid(8) names it, e.g. `ext4` or `xfs`. */
  readonly type: string;
  /** Where it is mounted, as far as the gateway's mount namespace shows it; undefined: nowhere. */
  readonly mountPoint: string | undefined;
}

/** An active volume. */
export interface ActiveVolume {
  readonly volumeGroupName: string;
  readonly name: string;
  /** Kernel device number. */
  readonly device: DeviceNumber | undefined;
}

/** The content of volumes. */
export interface LvmData {
  /** Returns the argv of a command that does what `run` does, for display. Its input and output are the devices. */
  commandOf(step: LvmDataStep): readonly string[];
  /**
   * Runs a step to its end.
   * @throws InfraError VOLUME_IN_USE, VOLUME_NOT_FOUND, TOOL_FAILED, TOOL_MISSING, BUSY, SHUTTING_DOWN, and the signal's reason
   */
  run(step: LvmDataStep, options: LvmDataStepOptions): Promise<void>;
  /** Stops the processes of a step that an earlier gateway left, and resolves when none runs any more. */
  settle(token: string): Promise<void>;
  /**
   * Returns the file system on a volume; undefined if there is none, e.g. if it is empty or has a partition table.
   * @throws InfraError TOOL_FAILED, TOOL_MISSING
   */
  fileSystemOn(volume: ActiveVolume, signal?: AbortSignal): Promise<FileSystem | undefined>;
  /** Returns the argv of the command that `growFileSystem` runs last, for display. */
  growCommandOf(volume: ActiveVolume, fileSystem: FileSystem): readonly string[];
  /**
   * Grows the file system on a volume to the volume's size. Does nothing if it has that size. An ext2, ext3 or ext4 file
   * system that is not mounted is checked first.
   * @throws InfraError FILE_SYSTEM_NOT_RESIZABLE, TOOL_FAILED, TOOL_MISSING
   */
  growFileSystem(volume: ActiveVolume): Promise<void>;
}
