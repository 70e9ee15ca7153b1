import type { Snapshot } from "../../../../adapters/host/snapshot.ts";
import type { ShownCommand } from "../../../lvm/shown-command.ts";
import type { PlannedStep } from "../../../operations/mutation.ts";

/** A device of a pool. Sizes are bytes. */
export interface PoolDevice {
  readonly path: string;
  /** Size that the device contributes to the pool. */
  readonly sizeBytes: bigint;
  readonly usedBytes: bigint;
  /** Whether the device cannot be found. */
  readonly missing: boolean;
  /** Whether the configuration lists it; other devices are never removed from the pool. */
  readonly configured: boolean;
}

/** A device of the configuration that is not in the pool. */
export interface PoolSpare {
  /** Path in the configuration. */
  readonly path: string;
  /** Size of the device; 0 if it cannot be read. */
  readonly sizeBytes: bigint;
  /** Human-readable reason why it cannot be added; empty if it can. */
  readonly unusable: string;
}

/** A storage pool that hypervisors share. Sizes are bytes. */
export interface PoolState {
  readonly name: string;
  /** UUID of the volume group, or path of the directory. */
  readonly identity: string;
  readonly kind: "volumeGroup" | "directory";
  readonly sizeBytes: bigint;
  readonly usedBytes: bigint;
  readonly freeBytes: bigint;
  /** In the order of the pool's backend. */
  readonly devices: readonly PoolDevice[];
  /** In the order of the configuration. */
  readonly spares: readonly PoolSpare[];
}

/** A planned change of a pool's size. */
export interface PlannedPoolChange {
  readonly identity: string;
  /** Paths of the devices that are added or removed. */
  readonly devices: readonly string[];
  /** Bytes by which the pool grows or shrinks. */
  readonly bytes: bigint;
  /** Bytes that are first moved from these devices to others; 0 for an expansion. */
  readonly movedBytes: bigint;
  readonly steps: readonly PlannedStep[];
}

/** Progress of an operation's step. */
export interface PoolProgress {
  readonly message: string;
  readonly doneBytes?: number;
  readonly totalBytes?: number;
}

/** A device that an operation removes from the pool. */
export type LeavingDevice = {
  readonly path: string;
  /** Bytes in use on it when it was chosen. */
  readonly usedBytes: number;
  /** Identifies the device in the pool, independent of its path. */
  readonly uuid: string;
  /** Whether it accepted new data before the operation; undoing the operation restores this. */
  readonly allocatable: boolean;
};

/**
 * A storage pool of any kind. Its changes are idempotent: each call does only what is left to do.
 */
export interface StoragePool {
  readonly name: string;
  readonly kind: PoolState["kind"];
  /** Backend type of the underlying adapter. */
  readonly backendKind: "real" | "sandbox";
  /** Formats the commands that messages recommend. */
  readonly shown: ShownCommand;

  /**
   * Returns the newest state, shared by all readers. The state of spares may be a few seconds old.
   * @param sinceMs earliest time at which the read may have begun (performance.now())
   * @throws InfraError VOLUME_GROUP_GONE, STORAGE_POOL_NOT_FOUND, and what its tools throw
   */
  read(signal?: AbortSignal, sinceMs?: number): Promise<Snapshot<PoolState>>;
  /** Reads the current spares, even if the pool itself is missing. @throws InfraError what its tools throw */
  readSpares(signal?: AbortSignal): Promise<readonly PoolSpare[]>;
  /** Calls back after each change, and when reads start or stop failing. Returns a function that unsubscribes. */
  subscribe(onChange: () => void): () => void;

  /**
   * Returns the devices that would be added to grow the pool by at least `minBytes`.
   * @throws InfraError POOL_CANNOT_GROW, POOL_FIXED, and as `read`
   */
  planExpand(minBytes: bigint, signal?: AbortSignal): Promise<PlannedPoolChange>;
  /**
   * Returns the devices that would be removed to shrink the pool by at most `maxBytes`.
   * @throws InfraError POOL_CANNOT_SHRINK, POOL_FIXED, and as `read`
   */
  planShrink(maxBytes: bigint, signal?: AbortSignal): Promise<PlannedPoolChange>;

  /**
   * Adds devices, all or none. Devices that are already in the pool are left alone.
   * @param isRepeated an earlier run may have been interrupted; devices that it initialized for LVM are accepted
   * @returns the total size of the devices in the pool, in bytes
   * @throws InfraError DEVICE_NOT_USABLE, VOLUME_GROUP_GONE
   */
  add(identity: string, paths: readonly string[], isRepeated?: boolean): Promise<bigint>;
  /** Removes devices that `add` added and that hold no data. @throws InfraError POOL_CANNOT_SHRINK */
  takeBack(identity: string, paths: readonly string[]): Promise<void>;

  /** Returns details of the devices to remove. @throws InfraError DEVICE_NOT_USABLE if one is not in the pool */
  leaving(identity: string, paths: readonly string[]): Promise<readonly LeavingDevice[]>;
  /** Closes the devices to new data, or restores their previous setting. */
  reserve(identity: string, devices: readonly LeavingDevice[], isReserved: boolean): Promise<void>;
  /**
   * Moves all data from the devices to the others. Resumes an interrupted move.
   * @param signal interrupts the move; data that was moved stays moved
   * @throws InfraError POOL_CANNOT_SHRINK if the other devices lack the space
   */
  moveAway(
    identity: string,
    devices: readonly LeavingDevice[],
    signal: AbortSignal,
    onProgress: (progress: PoolProgress) => void,
  ): Promise<void>;
  /** Aborts an interrupted move; data that was moved stays moved. */
  abortMove(identity: string, devices: readonly LeavingDevice[]): Promise<void>;
  /**
   * Removes empty devices from the pool and frees them for other uses.
   * @throws InfraError POOL_CANNOT_SHRINK if a device holds data
   */
  remove(identity: string, devices: readonly LeavingDevice[]): Promise<void>;
  /** Adds the devices that `remove` removed. @throws InfraError DEVICE_NOT_USABLE if one has been used since */
  putBack(identity: string, devices: readonly LeavingDevice[]): Promise<void>;
}
