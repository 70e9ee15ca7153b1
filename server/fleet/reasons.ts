import { defineReasons } from "../../adapters/host/define-reasons.ts";

/** Reasons of calls to the hosts of a fleet, and of joining one. */
export const fleetReasons = defineReasons({
  HOST_UNREACHABLE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning:
      "The host is not connected to this hub, or its connection broke during the call. A change may have been made.",
  },
  HOST_UNKNOWN: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "The fleet has no host of this name; the message lists the existing ones.",
  },
  HOST_REQUIRED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "The service belongs to the hosts, and none or several of them have it: name one by the header `hostplane-host` or the path `/hosts/NAME/...`.",
  },
  HOST_NAME_INVALID: {
    code: "INVALID_ARGUMENT",
    retryable: false,
    meaning: "The call names no host, several hosts, or something that cannot be the name of a host.",
  },
  NOT_ON_HOSTS: {
    code: "INVALID_ARGUMENT",
    retryable: false,
    meaning:
      "The service is always the hub's own (logins, users, tokens, the fleet), so the call must not name a host.",
  },
  BAD_HOST_ANSWER: {
    code: "INTERNAL",
    retryable: false,
    meaning: "The host's answer is not a valid answer to an RPC, so the hub did not pass it on.",
  },
  BEYOND_CEILING: {
    code: "PERMISSION_DENIED",
    retryable: false,
    meaning:
      "The host's own configuration (`fleet.agent.ceiling`) does not allow this to callers of a hub; use the host's local socket.",
  },
  JOIN_TOKEN_REFUSED: {
    code: "PERMISSION_DENIED",
    retryable: false,
    meaning: "The join token was used already, has expired, or was not issued by this fleet.",
  },
  HUB_NOT_TRUSTED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "No address in the token answers with the certificate authority that the token names.",
  },
  HUB_UNREACHABLE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning: "The hub did not answer; the message has the details.",
  },
  ALREADY_MEMBER: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The gateway is a member of a fleet; it must leave that fleet first.",
  },
  NOT_A_MEMBER: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The gateway is not a member of a fleet.",
  },
  HOST_EXISTS: {
    code: "ALREADY_EXISTS",
    retryable: false,
    meaning: "The fleet has a host of this name; remove it first, or choose another name.",
  },
});
