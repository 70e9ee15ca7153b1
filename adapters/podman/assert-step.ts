import { invalidField } from "../host/infra-error.ts";
import type { RuntimeStep } from "./adapter.ts";
import { assertImageReference, assertRuntimeId, assertSignal } from "./names.ts";

const maxGraceSeconds = 3_600;

/** Rejects a step whose arguments the runtime would reject or misinterpret. @throws InfraError INVALID_FIELD */
export function assertStep(step: RuntimeStep): void {
  switch (step.kind) {
    case "pullImage":
      assertImageReference(step.reference, "reference");
      return;
    case "removeImage":
      assertRuntimeId(step.imageId, "imageId");
      return;
    default:
      assertRuntimeId(step.podId, "podId");
  }
  if (step.kind === "killPod") {
    assertSignal(step.signal, "signal");
  }
  if (step.kind === "stopPod") {
    const { graceSeconds } = step;
    if (!Number.isInteger(graceSeconds) || graceSeconds < 0 || graceSeconds > maxGraceSeconds) {
      throw invalidField("graceSeconds", `must be from 0 to ${maxGraceSeconds}, is ${graceSeconds}`);
    }
  }
}
