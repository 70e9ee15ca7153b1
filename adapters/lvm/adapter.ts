import type { DeviceNumber } from "../host/device-number.ts";
import type { Snapshot } from "../host/snapshot.ts";
import type { LvmData } from "./data/data-adapter.ts";
import type { DeviceFacts, LvmDeviceStep, LvmDeviceStepOptions, PhysicalVolume } from "./device-adapter.ts";

/** A volume group as LVM reports it. Sizes are bytes. */
export interface VolumeGroup {
  readonly name: string;
  readonly uuid: string;
  readonly sizeBytes: bigint;
  readonly freeBytes: bigint;
  readonly extentSizeBytes: bigint;
  /** Physical volumes that LVM has on record but cannot find; above 0, the group is degraded. */
  readonly missingPvCount: number;
}

/** Type of a logical volume, from the first character of `lv_attr` (lvs(8)). */
export type LogicalVolumeKind =
  | "linear"
  | "thinPool"
  | "thinVolume"
  | "snapshot"
  | "raid"
  | "mirror"
  | "cache"
  | "other";

/** Health according to `lv_attr`, with one name for each unhealthy state. */
export type LogicalVolumeHealth =
  | "ok"
  | "partial"
  | "refreshNeeded"
  | "mismatchesExist"
  | "failed"
  | "outOfDataSpace"
  | "metadataReadOnly"
  | "invalidSnapshot"
  | "suspended"
  | "unknown";

/** A logical volume that a user can name (internal ones such as `_tdata` are left out). Sizes are bytes. */
export interface LogicalVolume {
  readonly name: string;
  readonly uuid: string;
  readonly volumeGroupName: string;
  readonly kind: LogicalVolumeKind;
  readonly health: LogicalVolumeHealth;
  /** Size of the block device; for a copy-on-write snapshot, the size of its origin. */
  readonly sizeBytes: bigint;
  readonly tags: readonly string[];
  /** Kernel device number; undefined while the volume is not active. */
  readonly device: DeviceNumber | undefined;
  readonly active: boolean;
  /** The volume cannot be written to. */
  readonly readOnly: boolean;
  /** The ten characters of `lv_attr` (lvs(8)), e.g. `-wi-ao----`. */
  readonly attributes: string;
  /** A process or the kernel has the block device open. Only an active volume can be open. */
  readonly open: boolean;
  /** The thin pool of a thin volume. */
  readonly thinPoolName: string | undefined;
  /** The volume this one is a snapshot of. */
  readonly originName: string | undefined;
  /**
   * Percentage in use, 0 to 100: of the data space of a thin pool, of the room of a copy-on-write snapshot, or of the
   * size of a thin volume. Of the origin of such a snapshot that is being merged: what is left of its room; undefined
   * while the merge waits for an activation.
   */
  readonly dataPercent: number | undefined;
  /** Percentage of a thin pool's metadata space that is in use, 0 to 100. */
  readonly metadataPercent: number | undefined;
  /** Size of a thin pool's metadata space. */
  readonly metadataSizeBytes: bigint | undefined;
  /** Space of a copy-on-write snapshot for the differences from its origin. */
  readonly roomBytes: bigint | undefined;
  /** A snapshot of the volume is being merged into it, or will be at its next activation. */
  readonly merging: boolean;
  /**
   * Physical volumes that contain the volume or its internal volumes, sorted (`PhysicalVolume.path`). A thin volume has
   * none of its own; its data is on those of its pool.
   */
  readonly devicePaths: readonly string[];
}

/**
 * The complete LVM state, read by one command. Volume groups are in LVM's own order. An exported group and its volumes
 * are left out until the group is imported; its physical volumes are still listed. Values that change without a
 * metadata change (`open`, the percentages) are as of that read.
 */
export interface LvmState {
  readonly volumeGroups: readonly VolumeGroup[];
  readonly volumes: readonly LogicalVolume[];
  readonly physicalVolumes: readonly PhysicalVolume[];
}

/** A change that one LVM command makes. Names and tags must have passed `names.ts`. */
export type LvmStep =
  | {
      readonly kind: "create";
      readonly volumeGroupName: string;
      readonly name: string;
      readonly sizeBytes: bigint;
      readonly tags: readonly string[];
      /** Create a thin volume in this pool instead of a thick volume. */
      readonly thinPoolName?: string;
      /** Options for lvcreate that have passed `create-options.ts`. Only for thick volumes. */
      readonly options?: readonly string[];
    }
  | {
      /** Creates a thin pool, which is active. LVM also allocates a spare of the size of its metadata, once per group. */
      readonly kind: "createThinPool";
      readonly volumeGroupName: string;
      readonly name: string;
      readonly sizeBytes: bigint;
      /** If absent, LVM computes it from the size. */
      readonly metadataSizeBytes?: bigint;
      readonly tags: readonly string[];
    }
  | {
      /** Grows the metadata space of a thin pool. */
      readonly kind: "resizeMetadata";
      readonly volumeGroupName: string;
      readonly name: string;
      readonly sizeBytes: bigint;
    }
  | {
      /** Grows a volume, or the data space of a thin pool. */
      readonly kind: "resize";
      readonly volumeGroupName: string;
      readonly name: string;
      readonly sizeBytes: bigint;
    }
  | {
      /**
       * Creates `name` with the present content of `originName`. A thin snapshot of a thin volume is active even if the
       * volume is not; a copy-on-write snapshot is active exactly while its origin is.
       */
      readonly kind: "snapshot";
      readonly volumeGroupName: string;
      readonly name: string;
      readonly originName: string;
      readonly tags: readonly string[];
      /**
       * Creates a copy-on-write snapshot of this size (`snapshot-room.ts`) on extents of the group. If absent, creates
       * a thin snapshot, which allocates from the pool as needed; the origin must then be a thin volume.
       */
      readonly roomBytes?: bigint;
      readonly readOnly?: boolean;
    }
  | {
      /** Renames a volume, open or not. Its snapshots, device number and UUID stay the same. */
      readonly kind: "rename";
      readonly volumeGroupName: string;
      readonly name: string;
      readonly newName: string;
    }
  | {
      /**
       * Adds tags, then removes tags; each list has at least one. Adding a tag that is present or removing one that is
       * absent is not an error.
       */
      readonly kind: "changeTags";
      readonly volumeGroupName: string;
      readonly name: string;
      readonly addTags: readonly string[];
      readonly removeTags: readonly string[];
    }
  | {
      /**
       * Begins to merge a snapshot into its origin, which gets the snapshot's content and size, and keeps its name, UUID and
       * tags. LVM hides the snapshot at once, and removes it at the end. If one of them is open or the origin is inactive, it waits
       * for the next activation of the origin; a thin snapshot is otherwise merged at once.
       */
      readonly kind: "merge";
      readonly volumeGroupName: string;
      readonly name: string;
      readonly isThin: boolean;
    }
  | {
      /** Watches a merge into this volume again, which only then can end, after the process that watched it was killed. */
      readonly kind: "resumeMerge";
      readonly volumeGroupName: string;
      readonly name: string;
    }
  | {
      /** `removeThinPool` also removes the spare for metadata if the pool is the last one of its group. */
      readonly kind: "activate" | "deactivate" | "remove" | "removeThinPool";
      readonly volumeGroupName: string;
      readonly name: string;
    };

/** A check result that `hostplane doctor` and ListBackends report. */
export interface LvmFinding {
  readonly ok: boolean;
  readonly what: string;
  /** The command or edit that fixes the problem; only where `ok` is false. */
  readonly fix?: string;
}

export interface LvmInspection {
  /** Version as printed by `lvm version`, e.g. `2.03.16(2)`; undefined when lvm cannot be run. */
  readonly version: string | undefined;
  readonly findings: readonly LvmFinding[];
}

/**
 * LVM of the host. The real adapter runs the `lvm` program; the sandbox applies the same rules in memory. Both pass
 * test/adapters/lvm/contract.ts.
 */
export interface LvmAdapter {
  readonly kind: "real" | "sandbox";

  /**
   * Returns the current state, which is cached and shared by all readers: at most one `lvm` process runs at a time, and
   * none while nothing has changed. A read that starts after a `run` has finished includes its change.
   * @param signal aborts this caller's wait; `lvm` is stopped when no reader waits for it any more
   * @throws InfraError TOOL_MISSING, TOOL_FAILED, TOOL_TIMEOUT, TOOL_OUTPUT, and the signal's reason
   */
  read(signal?: AbortSignal): Promise<Snapshot<LvmState>>;
  /**
   * Like `read`, but does not wait while LVM is read again. A change made outside the gateway may be missing for half a
   * second. The change of a `run` or `runOnDevices` is included once the call has finished.
   * @throws InfraError as `read`
   */
  readRecent(signal?: AbortSignal): Promise<Snapshot<LvmState>>;

  /**
   * Like `read`, but returns a state read after this call began. Needed for values that change without an event, such
   * as `open`. Concurrent readers share it as well.
   */
  refresh(signal?: AbortSignal): Promise<Snapshot<LvmState>>;

  /**
   * Calls back after each change of the state, whatever its source, and after a failed read; the error then comes from
   * `read`. Returns a function that unsubscribes.
   */
  subscribe(onChange: () => void): () => void;

  /**
   * Returns the argv of the command that `run` or `runOnDevices` would start for the step, prefixed with `env` if
   * LVM_SYSTEM_DIR is set.
   */
  commandOf(step: LvmStep | LvmDeviceStep): readonly string[];

  /**
   * Makes one change and resolves when LVM has committed it; the cached state is stale from then on. The command is
   * never killed: it runs to completion even if its caller goes away. Nothing is forced. `remove` rejects open volumes,
   * thin pools and volumes with snapshots; `removeThinPool` rejects pools that contain volumes, and volumes. `resize` only grows, and does nothing if the volume already has the size.
   * `activate` and `deactivate` reject copy-on-write snapshots, which follow their origin. `snapshot` rejects
   * copy-on-write snapshots and thin pools as origins.
   * @throws InfraError VOLUME_EXISTS, VOLUME_NOT_FOUND, VOLUME_GROUP_GONE, NO_SPACE, VOLUME_IN_USE,
   *   VOLUME_PROTECTED, SHRINK_NOT_ALLOWED, INVALID_FIELD, TOOL_MISSING, TOOL_FAILED, BUSY, SHUTTING_DOWN
   */
  run(step: LvmStep): Promise<void>;

  /**
   * Inspects devices, without opening them exclusively. The result is in the order of `paths`. Never throws for a
   * device that cannot be read.
   */
  devices(paths: readonly string[]): Promise<readonly DeviceFacts[]>;

  /**
   * Makes one change to the devices of a group; the cached state is stale from then on. Nothing is ever forced or
   * wiped.
   * @throws InfraError DEVICE_NOT_USABLE, POOL_CANNOT_SHRINK, VOLUME_GROUP_GONE, TOOL_MISSING, TOOL_FAILED, BUSY,
   *   SHUTTING_DOWN, and the signal's reason
   */
  runOnDevices(step: LvmDeviceStep, options?: LvmDeviceStepOptions): Promise<void>;

  /** The content of the volumes. */
  readonly data: LvmData;

  /** Returns LVM's version, or undefined when it cannot be read. Never throws. */
  version(): Promise<string | undefined>;

  /** Checks the LVM installation. Runs several commands, which may take a second. Never throws. */
  inspect(): Promise<LvmInspection>;

  /** Stops watching and waits for the commands that still run. */
  close(): Promise<void>;
}
