import type { Snapshot } from "../host/snapshot.ts";
import type { DeviceFacts, LvmDeviceStep, LvmDeviceStepOptions, PhysicalVolume } from "./device-adapter.ts";

/** A volume group as LVM reports it. Sizes are bytes. */
export interface VolumeGroup {
  readonly name: string;
  readonly uuid: string;
  readonly sizeBytes: bigint;
  readonly freeBytes: bigint;
  readonly extentSizeBytes: bigint;
  /** Physical volumes that LVM knows of but cannot find; the group is degraded when it is above 0. */
  readonly missingPvCount: number;
}

/** What a logical volume is made of; decided by the first character of `lv_attr` (lvs(8)). */
export type LogicalVolumeKind =
  | "linear"
  | "thinPool"
  | "thinVolume"
  | "snapshot"
  | "raid"
  | "mirror"
  | "cache"
  | "other";

/** Health facts of `lv_attr`, one name for each unhealthy state. */
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

/** A logical volume a user can name (internal ones such as `_tdata` are left out). Sizes are bytes. */
export interface LogicalVolume {
  readonly name: string;
  readonly uuid: string;
  readonly volumeGroupName: string;
  readonly kind: LogicalVolumeKind;
  readonly health: LogicalVolumeHealth;
  /** The size a user of the block device sees; of a copy-on-write snapshot its origin's size. */
  readonly sizeBytes: bigint;
  readonly tags: readonly string[];
  /** Kernel device number; undefined while the volume is not active. */
  readonly device: { readonly major: number; readonly minor: number } | undefined;
  readonly active: boolean;
  /** Nothing can be written to it. */
  readonly readOnly: boolean;
  /** The ten characters of `lv_attr` (lvs(8)), e.g. `-wi-ao----`. */
  readonly attributes: string;
  /** Something has the block device open. Only an active volume can be open. */
  readonly open: boolean;
  /** The thin pool of a thin volume. */
  readonly thinPoolName: string | undefined;
  /** The volume this one is a snapshot of. */
  readonly originName: string | undefined;
  /** Share of a thin pool's (or copy-on-write snapshot's) data space in use, 0 to 100. */
  readonly dataPercent: number | undefined;
  /** Share of a thin pool's metadata space in use, 0 to 100. */
  readonly metadataPercent: number | undefined;
}

/**
 * All that LVM knows, read by one command. Volume groups are in LVM's own order. An exported group is left out,
 * with its volumes, until it is imported; its physical volumes are told all the same. What changes without a change of
 * metadata (`open`, the percentages) is as of that read.
 */
export interface LvmState {
  readonly volumeGroups: readonly VolumeGroup[];
  readonly volumes: readonly LogicalVolume[];
  readonly physicalVolumes: readonly PhysicalVolume[];
}

/** One change of LVM that one command makes. Names and tags must have passed `names.ts`. */
export type LvmStep =
  | {
      readonly kind: "create";
      readonly volumeGroupName: string;
      readonly name: string;
      readonly sizeBytes: bigint;
      readonly tags: readonly string[];
      /** Make a thin volume in this pool instead of a thick one. */
      readonly thinPoolName?: string;
      /** Words for lvcreate that have passed `create-options.ts`; of a thick volume alone. */
      readonly options?: readonly string[];
    }
  | {
      readonly kind: "resize";
      readonly volumeGroupName: string;
      readonly name: string;
      readonly sizeBytes: bigint;
    }
  | {
      /**
       * Makes `name` hold what `originName` holds at this moment. A thin snapshot of a thin volume is active even if the
       * volume is not; a copy-on-write snapshot is active exactly while its origin is.
       */
      readonly kind: "snapshot";
      readonly volumeGroupName: string;
      readonly name: string;
      readonly originName: string;
      readonly tags: readonly string[];
      /**
       * Makes a copy-on-write snapshot with so much room (`snapshot-room.ts`), on extents of the group. Absent: a thin
       * snapshot, which takes what it needs from the pool; only of a thin volume.
       */
      readonly roomBytes?: bigint;
      readonly readOnly?: boolean;
    }
  | {
      /** Renames a volume, open or not; its snapshots, device numbers and UUID stay. */
      readonly kind: "rename";
      readonly volumeGroupName: string;
      readonly name: string;
      readonly newName: string;
    }
  | {
      /** Adds tags, then removes tags: one of each at least. Those that are there, or not there, already are no error. */
      readonly kind: "changeTags";
      readonly volumeGroupName: string;
      readonly name: string;
      readonly addTags: readonly string[];
      readonly removeTags: readonly string[];
    }
  | {
      readonly kind: "activate" | "deactivate" | "remove";
      readonly volumeGroupName: string;
      readonly name: string;
    };

/** Something `hostplane doctor` and ListBackends tell about the system. */
export interface LvmFinding {
  readonly ok: boolean;
  readonly what: string;
  /** The command or edit that would mend it; only where `ok` is false. */
  readonly fix?: string;
}

export interface LvmInspection {
  /** As `lvm version` prints it, e.g. `2.03.16(2)`; undefined when lvm cannot be run. */
  readonly version: string | undefined;
  readonly findings: readonly LvmFinding[];
}

/**
 * Host LVM. The real one runs the `lvm` program; the sandbox keeps the same rules in memory. Both pass
 * test/adapters/lvm/contract.ts.
 */
export interface LvmAdapter {
  readonly kind: "real" | "sandbox";

  /**
   * The newest state. Shared by all readers: however many ask at once, at most one `lvm` process runs, and
   * none while nothing has changed. A read that begins after a `run` has ended sees what it did.
   * @param signal a reader that leaves; `lvm` is stopped when nobody waits for it any more
   * @throws InfraError TOOL_MISSING, TOOL_FAILED, TOOL_TIMEOUT, TOOL_OUTPUT, and the signal's reason
   */
  read(signal?: AbortSignal): Promise<Snapshot<LvmState>>;
  /**
   * As `read`, but does not wait while LVM is read again: what somebody else has changed beside the gateway may be missing for
   * half a second. What a `run` or `runOnDevices` did is in it once that has ended.
   * @throws InfraError as `read`
   */
  readRecent(signal?: AbortSignal): Promise<Snapshot<LvmState>>;

  /**
   * As `read`, but of a state that was read after this call began: for what changes without anybody's notice, such as
   * `open`. Readers share it as well.
   */
  refresh(signal?: AbortSignal): Promise<Snapshot<LvmState>>;

  /**
   * Calls back after each change of the state, whoever made it, and after a read that failed (a reader then
   * learns why from `read`). Returns the function that ends it.
   */
  subscribe(onChange: () => void): () => void;

  /** The command that `run` or `runOnDevices` would start for the step, as argv; behind `env` with the LVM_SYSTEM_DIR that it has. */
  commandOf(step: LvmStep | LvmDeviceStep): readonly string[];

  /**
   * Makes one change and ends when LVM has committed it; the state is stale from then on. Never killed: it
   * runs to its end whatever happens to its caller. It is refused, not forced, when LVM has an objection:
   * `remove` takes no open volume, and neither a thin pool nor one that has snapshots; `resize` only
   * grows, and does nothing for a volume that has the size already; `activate` and `deactivate` take no copy-on-write
   * snapshot, which goes with its origin; `snapshot` takes neither such a snapshot nor a thin pool for an origin.
   * @throws InfraError VOLUME_EXISTS, VOLUME_NOT_FOUND, VOLUME_GROUP_GONE, NO_SPACE, VOLUME_IN_USE,
   *   VOLUME_PROTECTED, SHRINK_NOT_ALLOWED, INVALID_FIELD, TOOL_MISSING, TOOL_FAILED, BUSY, SHUTTING_DOWN
   */
  run(step: LvmStep): Promise<void>;

  /** Looks at devices, in this order, without opening them exclusively. Never throws for one that cannot be read. */
  devices(paths: readonly string[]): Promise<readonly DeviceFacts[]>;

  /**
   * Makes one change of what a group stands on; the state is stale from then on. Nothing is ever forced, and nothing wiped.
   * @throws InfraError DEVICE_NOT_USABLE, POOL_CANNOT_SHRINK, VOLUME_GROUP_GONE, TOOL_MISSING, TOOL_FAILED, BUSY,
   *   SHUTTING_DOWN, and the signal's reason
   */
  runOnDevices(step: LvmDeviceStep, options?: LvmDeviceStepOptions): Promise<void>;

  /** LVM's own version; undefined when it cannot be asked. Never throws. */
  version(): Promise<string | undefined>;

  /** What is there and what is missing: several commands, which may take a second. Never throws. */
  inspect(): Promise<LvmInspection>;

  /** Stops watching, and waits for the commands that still run. */
  close(): Promise<void>;
}
