import type { Attention, OperationFailure } from "../operation.ts";
import { type AnyStep, type OperationRun, stepRunOf } from "./operation-run.ts";
import { redactedError } from "./operation-secrets.ts";

/** Returns what to report about a step that failed for good; the step may supply the text itself. */
export function attentionOf(
  run: OperationRun,
  step: AnyStep,
  error: unknown,
  { message }: OperationFailure,
): Attention {
  try {
    const stepRun = stepRunOf(run, step, run.lease.lost);
    const attention = step.attention?.(stepRun, error instanceof Error ? error : new Error(String(error)));
    if (attention !== undefined) {
      return { left: attention.left.map(run.redact), advice: attention.advice.map(run.redact) };
    }
  } catch (fault) {
    run.onFault(`the advice on step ${step.name}`, redactedError(fault, run.redact));
  }
  return run.isPastReturn
    ? {
        left: [`Step ${step.name} (${step.title}) and the steps after it are not done: ${message}.`],
        advice: ["Fix the cause of the error, then retry the operation; it continues with this step."],
      }
    : {
        left: [`Step ${step.name} (${step.title}) may have left something behind: ${message}.`],
        advice: ["Fix the cause of the error, then retry the operation; it continues to undo this step."],
      };
}
