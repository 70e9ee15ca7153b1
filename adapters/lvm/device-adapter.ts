/** A device that LVM has marked as its own. Sizes are bytes. */
export interface PhysicalVolume {
  /** The device, as LVM names it; `[unknown]` of a missing one. */
  readonly path: string;
  readonly uuid: string;
  /** Undefined while it belongs to no group. */
  readonly volumeGroupName: string | undefined;
  /** Of a group's the room for volumes, in whole extents. */
  readonly sizeBytes: bigint;
  /** Bytes in use by volumes, also by hidden ones. */
  readonly usedBytes: bigint;
  /** Whether LVM may put something new on it. */
  readonly allocatable: boolean;
  readonly missing: boolean;
  /** Number of the block device; undefined while it is missing. */
  readonly device: { readonly major: number; readonly minor: number } | undefined;
}

/** What is known of a block device, whoever uses it. */
export interface DeviceFacts {
  /** As it was asked for. */
  readonly path: string;
  /** The device node that the path leads to now; undefined when it leads nowhere. */
  readonly node: string | undefined;
  readonly device: { readonly major: number; readonly minor: number } | undefined;
  /** 0 when it cannot be read. */
  readonly sizeBytes: bigint;
  /** Why it is not to be given to a volume group, e.g. `it holds ext4`. */
  readonly obstacles: readonly string[];
}

/** One change of what a volume group stands on. Devices of the group are named as `PhysicalVolume.path` does. */
export type LvmDeviceStep =
  | {
      /**
       * Adds devices, all or none; named by any path. Each is held exclusively while it is looked at, and let go just before
       * LVM takes it exclusively itself. One with a signature, a holder or a partition is refused, and never wiped.
       */
      readonly kind: "addDevices";
      readonly volumeGroupName: string;
      readonly paths: readonly string[];
      /**
       * An earlier run of this step may have been cut off after it had marked devices as LVM's: those in no group are accepted,
       * which are refused otherwise.
       */
      readonly isRepeated?: boolean;
    }
  | {
      readonly kind: "setAllocatable";
      readonly volumeGroupName: string;
      readonly path: string;
      readonly allocatable: boolean;
    }
  | {
      /**
       * Moves what is on a device to others of the group that are allocatable, while it is in use. Goes on with a move that
       * was interrupted, and joins one that somebody else has begun. Needs device-mapper.
       */
      readonly kind: "moveAway";
      readonly volumeGroupName: string;
      readonly path: string;
    }
  | {
      /** Ends a move of what is on a device, wherever it is; nothing when there is none. */
      readonly kind: "abortMove";
      readonly volumeGroupName: string;
      readonly path: string;
    }
  | {
      /** Takes a device that holds nothing out of its group; it stays marked as LVM's. */
      readonly kind: "takeDevice";
      readonly volumeGroupName: string;
      readonly path: string;
    }
  | {
      /** Takes LVM's mark from a device that is in no group. */
      readonly kind: "freeDevice";
      readonly volumeGroupName: string;
      readonly path: string;
    };

/** How a step on devices is followed. */
export interface LvmDeviceStepOptions {
  /** Asks `moveAway` to stop, which leaves what is not moved where it is; other steps run to their end. */
  readonly signal?: AbortSignal;
  /** How much of the device `moveAway` has moved, 0 to 100. */
  readonly onPercent?: (percent: number) => void;
}
