import { defineReasons } from "../host/define-reasons.ts";

/** Reasons of MAAS: its account, machines and addresses. */
export const maasReasons = defineReasons({
  MAAS_UNAVAILABLE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning:
      "MAAS cannot be reached, is busy, or does not answer in time; the request may still have been carried out.",
  },
  MAAS_DENIED: {
    code: "INTERNAL",
    retryable: false,
    meaning: "MAAS denies the gateway's account access or this action; the message says what to change.",
  },
  MAAS_FAILED: {
    code: "INTERNAL",
    retryable: false,
    meaning: "MAAS failed for another reason, or sent a reply that the gateway cannot parse.",
  },
  MAAS_REFUSED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "MAAS rejects a value in the request, such as a tag, pool, zone or image that it does not have; the message names the field.",
  },
  MACHINE_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "MAAS has no machine with this system id.",
  },
  MACHINE_TAKEN: {
    code: "ABORTED",
    retryable: false,
    meaning: "The machine is allocated to another user or not free; another one may be.",
  },
  NO_MACHINE: {
    code: "RESOURCE_EXHAUSTED",
    retryable: true,
    meaning: "MAAS has no free machine that meets the constraints.",
  },
  MACHINE_STATE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The machine's state does not allow this, e.g. deploying a deployed machine.",
  },
  MACHINE_LOCKED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The machine is locked in MAAS, so the gateway does not change it.",
  },
  NO_ADDRESS: {
    code: "RESOURCE_EXHAUSTED",
    retryable: true,
    meaning: "MAAS has no free IP address in the subnet.",
  },
  ADDRESS_TAKEN: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The IP address is already in use.",
  },
});
