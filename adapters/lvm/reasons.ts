import { defineReasons } from "../host/define-reasons.ts";

/** Reasons of LVM: volumes, volume groups and their devices. */
export const lvmReasons = defineReasons({
  VOLUME_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "The device class has no volume of this name.",
  },
  VOLUME_EXISTS: {
    code: "ALREADY_EXISTS",
    retryable: false,
    meaning: "The volume group already has a volume of this name.",
  },
  VOLUME_GROUP_GONE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning:
      "The volume group (or thin pool) of the device class is missing; the class is available again once it is back.",
  },
  SHRINK_NOT_ALLOWED: {
    code: "OUT_OF_RANGE",
    retryable: false,
    meaning: "Volumes never shrink.",
  },
  FILE_SYSTEM_NOT_RESIZABLE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "The volume has no file system that can grow: none, one of another type, or an XFS that is not mounted.",
  },
  VOLUME_PROTECTED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "The volume is protected: it matches `volumes.protect`, is a thin pool, is internal to LVM, or has snapshots.",
  },
  POOL_CANNOT_SHRINK: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "No device can be removed within the requested size; the message says why, with the sizes.",
  },
  DEVICE_NOT_USABLE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The device is in use, contains data, or is not a block device; it is never wiped or forced.",
  },
});
