import { defineReasons } from "./define-reasons.ts";

/** Reasons that several systems share, and those of running tools. */
export const hostReasons = defineReasons({
  INVALID_FIELD: {
    code: "INVALID_ARGUMENT",
    retryable: false,
    meaning: "A field has a value outside its limits; each violation names the field and the limit.",
  },
  CALLER_LEFT: {
    code: "CANCELLED",
    retryable: true,
    meaning: "The caller cancelled the call or closed its connection.",
  },
  SHUTTING_DOWN: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning: "The gateway is stopping; retry, here or at another replica.",
  },
  BUSY: {
    code: "RESOURCE_EXHAUSTED",
    retryable: true,
    meaning: "Too many tools, changes or logins are waiting; the message names the limit.",
  },
  NO_SPACE: {
    code: "RESOURCE_EXHAUSTED",
    retryable: false,
    meaning: "The volume group or thin pool has less free space than requested; the message has both sizes.",
  },
  VOLUME_IN_USE: {
    code: "FAILED_PRECONDITION",
    retryable: true,
    meaning: "The volume is open (mounted, or used by a process or another device).",
  },
  TOOL_MISSING: {
    code: "UNAVAILABLE",
    retryable: false,
    meaning:
      "A program that the domain needs is not installed or cannot be started; `hostplane doctor` shows how to install it.",
  },
  TOOL_FAILED: {
    code: "INTERNAL",
    retryable: false,
    meaning: "A host tool failed for another reason; the message has the tool's own error.",
  },
  TOOL_TIMEOUT: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning: "A read-only tool did not finish in time and was stopped.",
  },
  TOOL_OUTPUT: {
    code: "INTERNAL",
    retryable: false,
    meaning: "The output of a tool could not be parsed.",
  },
  INTERNAL: {
    code: "INTERNAL",
    retryable: false,
    meaning: "A bug in the gateway; the log has the details under the response's request id.",
  },
});
