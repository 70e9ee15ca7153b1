import { defineReasons } from "../host/define-reasons.ts";

/** Reasons of a Ceph cluster. */
export const cephReasons = defineReasons({
  CEPH_UNAVAILABLE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning: "The Ceph cluster cannot be reached, or does not answer in time; the gateway keeps trying.",
  },
  CEPH_DENIED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The Ceph cluster denies access or this action; the message says what to change.",
  },
  CEPH_FAILED: {
    code: "INTERNAL",
    retryable: false,
    meaning: "The Ceph cluster refused for another reason, or sent a reply that the gateway cannot parse.",
  },
  CEPH_OPERATOR_MISSING: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The gateway has only a read key for the Ceph cluster, and no operator key for changes.",
  },
  CRASH_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "The Ceph cluster has no crash report with this id.",
  },
});
