import { defineReasons } from "../../../adapters/host/define-reasons.ts";

/** Reasons of volumes and their device classes, beside those of LVM. */
export const volumeReasons = defineReasons({
  DEVICE_CLASS_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "No device class has this name; the message lists those that exist.",
  },
});
