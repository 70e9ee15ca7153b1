import type { RuntimeStep } from "./adapter.ts";

/** Returns the request for a step: its method, and its path with the query, relative to `/v4.0.0/libpod/`. */
export function commandOf(step: RuntimeStep): readonly [method: "POST" | "DELETE", path: string] {
  switch (step.kind) {
    case "startPod":
      return ["POST", `pods/${step.podId}/start`];
    case "stopPod":
      return ["POST", `pods/${step.podId}/stop?t=${step.graceSeconds}`];
    case "killPod":
      return ["POST", `pods/${step.podId}/kill?signal=${encodeURIComponent(step.signal)}`];
    case "removePod":
      return ["DELETE", `pods/${step.podId}?force=${step.force}`];
    case "pullImage":
      return ["POST", `images/pull?reference=${encodeURIComponent(step.reference)}`];
    case "removeImage":
      return ["DELETE", `images/${step.imageId}?force=${step.force}`];
  }
}
