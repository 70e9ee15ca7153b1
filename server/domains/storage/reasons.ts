import { defineReasons } from "../../../adapters/host/define-reasons.ts";

/** Reasons of storage figures, beside those of Ceph and Kubernetes. */
export const storageReasons = defineReasons({
  FIGURE_UNAVAILABLE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning:
      "A required value cannot currently be read from the storage cluster; the message says which and why.",
  },
  KOOR_CLUSTER_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "The Kubernetes cluster has no KoorCluster in the namespace of `storage.kubernetes`.",
  },
});
