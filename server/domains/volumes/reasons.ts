import { defineReasons } from "../../../adapters/host/define-reasons.ts";

/** Reasons of volumes and their device classes, beside those of LVM. */
export const volumeReasons = defineReasons({
  DEVICE_CLASS_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "No device class has this name; the message lists those that exist.",
  },
  NOT_A_SNAPSHOT: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The volume is not a snapshot, or the volume that it was taken of no longer exists.",
  },
});
