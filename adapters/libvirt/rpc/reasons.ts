import { defineReasons } from "../../host/define-reasons.ts";

/** Reasons for which libvirt refuses a call, or cannot be called. */
export const libvirtRpcReasons = defineReasons({
  LIBVIRT_UNAVAILABLE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning: "The libvirt daemon cannot be reached, or does not answer in time; the gateway keeps trying.",
  },
  LIBVIRT_DENIED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The libvirt daemon denies access or this action; the message says what to change.",
  },
  LIBVIRT_FAILED: {
    code: "INTERNAL",
    retryable: false,
    meaning: "The libvirt daemon refused for another reason; the message has its error.",
  },
  DOMAIN_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "There is no VM with this name or UUID.",
  },
  DOMAIN_EXISTS: {
    code: "ALREADY_EXISTS",
    retryable: false,
    meaning: "A VM of this name already exists.",
  },
  DOMAIN_STATE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The VM's state does not allow this, e.g. because it is already running or not running.",
  },
  STORAGE_POOL_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "There is no storage pool of this name.",
  },
  STORAGE_VOLUME_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "The storage pool has no volume of this name.",
  },
  STORAGE_VOLUME_EXISTS: {
    code: "ALREADY_EXISTS",
    retryable: false,
    meaning: "The storage pool already has a volume of this name.",
  },
  NETWORK_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "There is no network of this name.",
  },
  NODE_DEVICE_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "The host has no device of this name.",
  },
  AGENT_UNRESPONSIVE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning: "The VM's guest agent does not answer: it is not installed, or the guest is not up yet.",
  },
});
