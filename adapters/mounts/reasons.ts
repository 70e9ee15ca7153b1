import { defineReasons } from "../host/define-reasons.ts";

/** Reasons of file systems and their mounts. */
export const mountReasons = defineReasons({
  MOUNT_MISSING: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The volume is not mounted where the call needs it; the message names the path.",
  },
  MOUNTS_UNAVAILABLE: {
    code: "UNAVAILABLE",
    retryable: false,
    meaning:
      "The gateway cannot enter the mount namespace of the host; `hostplane doctor` shows which privileges it lacks.",
  },
});
