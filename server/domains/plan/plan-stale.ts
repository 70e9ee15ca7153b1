import { InfraError } from "../../../adapters/host/infra-error.ts";
import { planReasons } from "./reasons.ts";

/** Returns the error of a plan that no longer holds. Nothing was changed. */
export function planStale(id: string, because: string, cause?: unknown): InfraError {
  return new InfraError(
    planReasons.PLAN_STALE,
    `the plan ${id} no longer holds, and nothing was changed: ${because}`,
    { resource: planResource(id), effect: "none", cause },
  );
}

/** Returns the resource name of a saved plan, for errors, the log and the audit log. */
export function planResource(id: string): string {
  return `plans/${id.slice(0, 64)}`;
}

/**
 * Reports whether an error means that the state no longer allows a change. Others say nothing of the state: the caller lost its
 * permission, the system cannot be read, or it is busy.
 */
export function isRefusal(error: unknown): error is InfraError {
  return error instanceof InfraError && !error.declared.retryable && refusals.has(error.code);
}

const refusals: ReadonlySet<InfraError["code"]> = new Set([
  "INVALID_ARGUMENT",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "FAILED_PRECONDITION",
  "RESOURCE_EXHAUSTED",
  "OUT_OF_RANGE",
  "ABORTED",
]);
