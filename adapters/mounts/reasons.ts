import { defineReasons } from "../host/define-reasons.ts";

/** Reasons of file systems and their mounts. */
export const mountReasons = defineReasons({
  MOUNT_DIFFERS: {
    code: "ALREADY_EXISTS",
    retryable: false,
    meaning:
      "The volume is already mounted at this path, but with another file system, other flags, or another access.",
  },
  MOUNT_FOREIGN: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "Something else is mounted at this path; it is never unmounted or mounted over.",
  },
  MOUNT_MISSING: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The volume is not mounted where the call needs it; the message names the path.",
  },
  FILE_SYSTEM_DIFFERS: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "The volume contains something other than the requested file system; it is never formatted again.",
  },
  MOUNTS_UNAVAILABLE: {
    code: "UNAVAILABLE",
    retryable: false,
    meaning:
      "The gateway cannot enter the mount namespace of the host; `hostplane doctor` shows which privileges it lacks.",
  },
});
