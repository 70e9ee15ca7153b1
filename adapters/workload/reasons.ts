import { defineReasons } from "../host/define-reasons.ts";

/** Reasons of the clusters that the gateway creates. */
export const workloadReasons = defineReasons({
  WORKLOAD_UNAVAILABLE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning:
      "A workload cluster is unreachable or temporarily unavailable; the request may still have been carried out.",
  },
  WORKLOAD_DENIED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "A workload cluster rejects the gateway's certificate or forbids the request.",
  },
  WORKLOAD_FAILED: {
    code: "INTERNAL",
    retryable: false,
    meaning: "A workload cluster refused for another reason, or sent a reply that the gateway cannot parse.",
  },
});
