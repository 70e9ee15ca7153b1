import { defineReasons } from "../host/define-reasons.ts";

/** Reasons of the Kubernetes cluster that runs Ceph. */
export const kubernetesReasons = defineReasons({
  KUBERNETES_UNAVAILABLE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning:
      "The Kubernetes cluster cannot be reached, or does not answer in time; the gateway keeps trying.",
  },
  KUBERNETES_DENIED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The Kubernetes cluster denies access or this read; the message says what to change.",
  },
});
