import { defineReasons } from "../host/define-reasons.ts";

/** Reasons of Podman: pods, containers and images. */
export const podmanReasons = defineReasons({
  PODMAN_UNAVAILABLE: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning: "Podman cannot be reached, or does not answer in time; the gateway keeps trying.",
  },
  PODMAN_DENIED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The gateway may not open Podman's socket; the message says what to change.",
  },
  PODMAN_FAILED: {
    code: "INTERNAL",
    retryable: false,
    meaning:
      "Podman refused for another reason, or sent a reply that the gateway cannot parse; the message has its error.",
  },
  POD_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "There is no pod with this id.",
  },
  POD_STATE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The pod's state does not allow this, e.g. removing a running pod or killing a stopped one.",
  },
  POD_START_FAILED: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "One or more containers of the pod do not start; the message has the runtime's error.",
  },
  CONTAINER_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "There is no container with this id.",
  },
  LOGS_UNAVAILABLE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "The container's output is not recorded, e.g. with the log driver `none`.",
  },
  IMAGE_NOT_FOUND: {
    code: "NOT_FOUND",
    retryable: false,
    meaning: "There is no image with this id.",
  },
  IMAGE_IN_USE: {
    code: "FAILED_PRECONDITION",
    retryable: false,
    meaning: "Containers use the image, so it cannot be removed.",
  },
  IMAGE_PULL_FAILED: {
    code: "UNAVAILABLE",
    retryable: true,
    meaning: "The image could not be pulled; the message has the runtime's error.",
  },
});
