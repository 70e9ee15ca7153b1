import { defineReasons } from "../../../../adapters/host/define-reasons.ts";

/**
 * Reasons of the CSI driver: about mounts of volumes, and where the specification asks for a code that the reason of the same failure
 * elsewhere does not have.
 */
export const csiReasons = defineReasons({
  CSI_DIFFERS: {
    code: "ALREADY_EXISTS",
    retryable: false,
    meaning:
      "A volume or snapshot of this name exists, but with another size, source or device class; the message names the difference.",
  },
  CSI_PENDING: {
    code: "ABORTED",
    retryable: true,
    meaning: "Another change or operation of the same volume is running; repeat the call.",
  },
  CSI_TOKEN: {
    code: "ABORTED",
    retryable: false,
    meaning: "The starting token is not that of an earlier list; begin again without one.",
  },
  CSI_CAPACITY: {
    code: "OUT_OF_RANGE",
    retryable: false,
    meaning: "No size within the capacity range is possible; the message names the limit.",
  },
  CSI_TOPOLOGY: {
    code: "RESOURCE_EXHAUSTED",
    retryable: false,
    meaning: "The volume must be accessible from other hosts, and this host cannot provide that.",
  },
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
  FILE_SYSTEM_DIFFERS: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "The volume contains something other than the requested file system; it is never formatted again.",
  },
  CSI_NOT_SUPPORTED: {
    code: "UNIMPLEMENTED",
    retryable: false,
    meaning: "The driver does not have the capability that the method needs.",
  },
});
