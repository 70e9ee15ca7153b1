import { defineReasons } from "../../../adapters/host/define-reasons.ts";

/** Reasons of clusters, their node pools and machines, beside those of MAAS and of the clusters themselves. */
export const clusterReasons = defineReasons({
  CLUSTER_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "There is no cluster of this name.",
  },
  CLUSTER_EXISTS: {
    code: "ALREADY_EXISTS",
    retryable: false,
    meaning:
      "A cluster of this name already exists; a cluster that is being deleted keeps its name until its last machine is released.",
  },
  CLUSTER_STOPPING: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The cluster is being deleted and cannot be changed.",
  },
  CLUSTER_CHANGED: {
    code: "ABORTED",
    retryable: true,
    meaning: "The cluster was repeatedly changed by other calls meanwhile; nothing was done.",
  },
  CLUSTER_OF_OTHER_MAAS: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "The cluster's machines belong to another MAAS than the configured one; it cannot be changed here.",
  },
  CLUSTER_ENDPOINT_MISSING: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "This requires an address that stays the same when the cluster's machines change, and none is available: set `clusters.endpoint`.",
  },
  NO_ENDPOINT: {
    code: "RESOURCE_EXHAUSTED",
    retryable: false,
    meaning: "Every address of `clusters.endpoint.addresses` is already used by a cluster.",
  },
  NO_IMAGE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "MAAS has no image with this version of Kubernetes for machines of this type; docs/reference/domains/maas-images.md describes how images are named.",
  },
  POOL_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "The cluster has no node pool of this name; the message names all that are missing.",
  },
  POOL_EXISTS: {
    code: "ALREADY_EXISTS",
    retryable: false,
    meaning: "The cluster already has a node pool of this name.",
  },
  POOL_STOPPING: {
    code: "FAILED_PRECONDITION",
    retryable: true,
    meaning: "A node pool of this name was just deleted, and its machines are still being removed.",
  },
  SCALE_TO_ZERO: {
    code: "INVALID_ARGUMENT",
    retryable: false,
    meaning:
      "A node pool of 0 machines was requested, which may be a forgotten count; use DeleteNodePool to remove a pool.",
  },
  UPGRADE_IN_PROGRESS: {
    code: "FAILED_PRECONDITION",
    retryable: true,
    meaning: "The cluster is being upgraded, and can be changed once every machine has the new version.",
  },
  UPGRADE_REFUSED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning:
      "Kubernetes cannot be downgraded, and an upgrade cannot skip a minor version; the message has both versions.",
  },
  MACHINE_FAILED: {
    code: "INTERNAL",
    retryable: true,
    meaning:
      "A machine could not be installed, or did not join its cluster in time; it is released and replaced by another.",
  },
  MACHINE_IN_USE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The machine belongs to a cluster, so it is not stray; the message names the cluster.",
  },
  STRAY_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "The gateway's MAAS account has no machine with this system id.",
  },
  STRAY_NOT_ADOPTABLE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The machine cannot be added to a cluster; the message says why.",
  },
});
