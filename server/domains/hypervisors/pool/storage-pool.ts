import type { Snapshot } from "../../../../adapters/host/snapshot.ts";
import type { ShownCommand } from "../../../backups/lvm/shown-command.ts";
import type { PlannedStep } from "../../../operations/mutation.ts";

/** A device that a pool stands on. Sizes are bytes. */
export interface PoolDevice {
  readonly path: string;
  /** What the pool has of it. */
  readonly sizeBytes: bigint;
  readonly usedBytes: bigint;
  /** It cannot be found now. */
  readonly missing: boolean;
  /** The configuration lists it: no other is ever taken out. */
  readonly configured: boolean;
}

/** A device of the configuration that is not in the pool. */
export interface PoolSpare {
  /** As the configuration has it. */
  readonly path: string;
  /** Of the device; 0 when it cannot be read. */
  readonly sizeBytes: bigint;
  /** Why it cannot be added, for people; empty when it can. */
  readonly unusable: string;
}

/** A storage pool that hypervisors share. Sizes are bytes. */
export interface PoolState {
  readonly name: string;
  /** What it is: the UUID of a volume group, or the path of a directory. */
  readonly identity: string;
  readonly kind: "volumeGroup" | "directory";
  readonly sizeBytes: bigint;
  readonly usedBytes: bigint;
  readonly freeBytes: bigint;
  /** In the order of the pool. */
  readonly devices: readonly PoolDevice[];
  /** In the order of the configuration. */
  readonly spares: readonly PoolSpare[];
}

/** A change of a pool's size, as it would be made now. */
export interface PlannedPoolChange {
  readonly identity: string;
  /** Paths of the devices that come or go. */
  readonly devices: readonly string[];
  /** By how much the pool grows or shrinks. */
  readonly bytes: bigint;
  /** Bytes that are moved from these devices to others first; 0 for an expansion. */
  readonly movedBytes: bigint;
  readonly steps: readonly PlannedStep[];
}

/** What the steps of an operation tell while they run. */
export interface PoolProgress {
  readonly message: string;
  readonly doneBytes?: number;
  readonly totalBytes?: number;
}

/** A device that an operation takes out of the pool. */
export type LeavingDevice = {
  readonly path: string;
  /** Bytes in use on it when it was chosen. */
  readonly usedBytes: number;
  /** The pool's own name of it, which does not change with its path. */
  readonly uuid: string;
  /** Whether new data might be put on it before: that is put back when the operation is undone. */
  readonly allocatable: boolean;
};

/**
 * A storage pool, whatever it is made of. What changes it is safe to repeat: each call finds what is left to do.
 */
export interface StoragePool {
  readonly name: string;
  readonly kind: PoolState["kind"];
  /** Sandbox or real, as the adapter behind it. */
  readonly backendKind: "real" | "sandbox";
  /** Formats commands that texts advise. */
  readonly shown: ShownCommand;

  /**
   * The newest state. Readers share it; the state of a spare may be some seconds old.
   * @param sinceMs the read must not have begun before (performance.now())
   * @throws InfraError VOLUME_GROUP_GONE, STORAGE_POOL_NOT_FOUND, and what its tools throw
   */
  read(signal?: AbortSignal, sinceMs?: number): Promise<Snapshot<PoolState>>;
  /** Its spares, looked at now, also when the pool itself is not there. @throws InfraError what its tools throw */
  readSpares(signal?: AbortSignal): Promise<readonly PoolSpare[]>;
  /** Calls back after each change, and when reading begins or ceases to fail. Returns the function that ends it. */
  subscribe(onChange: () => void): () => void;

  /**
   * The devices that would be added for at least so many bytes.
   * @throws InfraError POOL_CANNOT_GROW, POOL_FIXED, and as `read`
   */
  planExpand(minBytes: bigint, signal?: AbortSignal): Promise<PlannedPoolChange>;
  /**
   * The devices that would be taken out for at most so many bytes.
   * @throws InfraError POOL_CANNOT_SHRINK, POOL_FIXED, and as `read`
   */
  planShrink(maxBytes: bigint, signal?: AbortSignal): Promise<PlannedPoolChange>;

  /**
   * Adds devices, all or none. Those that are in the pool already are left alone.
   * @param isRepeated an earlier run may have been cut off: devices it has marked as LVM's are accepted
   * @returns by how many bytes the pool has them now
   * @throws InfraError DEVICE_NOT_USABLE, VOLUME_GROUP_GONE
   */
  add(identity: string, paths: readonly string[], isRepeated?: boolean): Promise<bigint>;
  /** Takes out again what `add` has added and nobody has used. @throws InfraError POOL_CANNOT_SHRINK */
  takeBack(identity: string, paths: readonly string[]): Promise<void>;

  /** The facts of devices that are to leave. @throws InfraError DEVICE_NOT_USABLE when one is not in the pool */
  leaving(identity: string, paths: readonly string[]): Promise<readonly LeavingDevice[]>;
  /** Sees to it that nothing new is put on the devices, or again may be. */
  reserve(identity: string, devices: readonly LeavingDevice[], isReserved: boolean): Promise<void>;
  /**
   * Moves all data from the devices to the others. Goes on with a move that was interrupted.
   * @param signal interrupts it; what was moved stays moved
   * @throws InfraError POOL_CANNOT_SHRINK when the others have no room for it
   */
  moveAway(
    identity: string,
    devices: readonly LeavingDevice[],
    signal: AbortSignal,
    onProgress: (told: PoolProgress) => void,
  ): Promise<void>;
  /** Ends an interrupted move where it is. */
  abortMove(identity: string, devices: readonly LeavingDevice[]): Promise<void>;
  /**
   * Takes out devices that hold nothing, and makes them free for others.
   * @throws InfraError POOL_CANNOT_SHRINK when one does
   */
  remove(identity: string, devices: readonly LeavingDevice[]): Promise<void>;
  /** Puts back what `remove` has taken out. @throws InfraError DEVICE_NOT_USABLE when somebody has used it since */
  putBack(identity: string, devices: readonly LeavingDevice[]): Promise<void>;
}
