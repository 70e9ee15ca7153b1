import { defineReasons } from "../../../adapters/host/define-reasons.ts";

/** Reasons of hypervisors and their storage pool, beside those of libvirt and LVM. */
export const hypervisorReasons = defineReasons({
  HYPERVISOR_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "The inventory has no hypervisor with this id.",
  },
  HYPERVISOR_RUNNING: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The hypervisor is already running, so there is nothing to create.",
  },
  HYPERVISOR_OFF: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The hypervisor is off and was not created by the gateway, so there is nothing to destroy.",
  },
  HYPERVISOR_NOT_READY: {
    code: "UNAVAILABLE",
    retryable: false,
    meaning: "The hypervisor was started, but was not ready within its template's timeout.",
  },
  POOL_CANNOT_GROW: {
    code: "RESOURCE_EXHAUSTED",
    retryable: false,
    meaning:
      "There is less spare space than requested; the message says how much there is, and why other devices are not usable.",
  },
  POOL_FIXED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The pool is a directory, which is as large as its file system; resize that instead.",
  },
});
