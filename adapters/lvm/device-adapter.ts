import type { DeviceNumber } from "../host/device-number.ts";

/** An LVM physical volume. Sizes are bytes. */
export interface PhysicalVolume {
  /** The device, as LVM names it; `[unknown]` if it is missing. */
  readonly path: string;
  readonly uuid: string;
  /** Undefined while it belongs to no group. */
  readonly volumeGroupName: string | undefined;
  /** Size; for a device in a group, the space for volumes in whole extents. */
  readonly sizeBytes: bigint;
  /** Bytes used by volumes, including hidden ones. */
  readonly usedBytes: bigint;
  /** Whether LVM may allocate on it. */
  readonly allocatable: boolean;
  readonly missing: boolean;
  /** Number of the block device; undefined while it is missing. */
  readonly device: DeviceNumber | undefined;
}

/** Facts about a block device, whether or not LVM uses it. */
export interface DeviceFacts {
  /** The path as requested. */
  readonly path: string;
  /** The device node to which the path resolves; undefined if it does not resolve. */
  readonly node: string | undefined;
  readonly device: DeviceNumber | undefined;
  /** 0 when it cannot be read. */
  readonly sizeBytes: bigint;
  /** Reasons why it must not be added to a volume group, e.g. `it contains ext4`. */
  readonly obstacles: readonly string[];
}

/** One change to the devices of a volume group. Devices in the group are named by `PhysicalVolume.path`. */
export type LvmDeviceStep =
  | {
      /**
       * Adds all the devices or none; any path may name a device. Each is opened exclusively while it is checked, and
       * released just before LVM opens it exclusively itself. A device with a signature, a holder or a partition is
       * refused and never wiped.
       */
      readonly kind: "addDevices";
      readonly volumeGroupName: string;
      readonly paths: readonly string[];
      /**
       * An earlier run of this step may have been interrupted after it created physical volumes. Those without a group,
       * which are otherwise refused, are then accepted.
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
       * Moves the data of a device, while in use, to other allocatable devices of the group. Resumes an interrupted
       * move, and joins one that another process has started. Needs device-mapper.
       */
      readonly kind: "moveAway";
      readonly volumeGroupName: string;
      readonly path: string;
    }
  | {
      /** Aborts a move away from a device, wherever it runs; does nothing if there is none. */
      readonly kind: "abortMove";
      readonly volumeGroupName: string;
      readonly path: string;
    }
  | {
      /** Removes an empty device from its group; it stays a physical volume. */
      readonly kind: "takeDevice";
      readonly volumeGroupName: string;
      readonly path: string;
    }
  | {
      /** Removes the LVM label from a device that is in no group. */
      readonly kind: "freeDevice";
      readonly volumeGroupName: string;
      readonly path: string;
    };

/** Options for running a step on devices. */
export interface LvmDeviceStepOptions {
  /** Asks `moveAway` to stop; data not yet moved stays where it is. Other steps run to completion. */
  readonly signal?: AbortSignal;
  /** Called with the percentage of the device that `moveAway` has moved, 0 to 100. */
  readonly onPercent?: (percent: number) => void;
}
