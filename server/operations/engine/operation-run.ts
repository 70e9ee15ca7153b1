import { InfraError } from "../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import type { CommandLog } from "../command-log.ts";
import { stepChannel } from "../observation.ts";
import type { Json, Operation, OperationFailure, StepState } from "../operation.ts";
import type { OperationKind, OperationStep, StepRun } from "../operation-kind.ts";
import type { Boundary, FencedWrite } from "./fenced-writes.ts";
import type { Lease } from "./lease.ts";
import { redactedError } from "./operation-secrets.ts";
import { createStepProgress } from "./step-progress.ts";

/** An operation kind as the engine sees it, with opaque inputs and secrets. */
export type AnyKind = OperationKind<Json, Json>;
export type AnyStep = OperationStep<Json, Json>;

/** An operation that this gateway has claimed, while it runs. */
export interface OperationRun {
  readonly kind: AnyKind;
  /** State at the time of the claim. */
  readonly operation: Operation;
  readonly secrets: Json;
  /** Removes the secrets from a text. */
  readonly redact: (text: string) => string;
  /** Outputs of the completed steps. */
  readonly outputs: Map<string, Json>;
  readonly steps: Map<string, { state: StepState; attempt: number }>;
  isPastReturn: boolean;
  readonly lease: Lease;
  readonly write: FencedWrite;
  readonly commandLog: CommandLog;
  /** Aborted when the gateway stops. */
  readonly closing: AbortSignal;
  /** Pause before the second attempt; later pauses are longer. */
  readonly firstPauseMs: number;
  /** Called with errors that are not an InfraError; callers do not see those. */
  readonly onFault: (what: string, error: unknown) => void;
  readonly boundary: Boundary | undefined;
}

/**
 * Result of a run. `lost`: another gateway has the operation. `released`: this gateway is stopping, and another may continue.
 * `undo`: the completed steps must be undone.
 */
export type RunEnd = "ended" | "lost" | "released" | "undo";

/** Result of a step's function. */
export type StepEnd<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: unknown };

/** Runs a function of a step, with its progress, command log and tracing. */
export async function performStep<T>(
  run: OperationRun,
  step: AnyStep,
  around: {
    /** e.g. `undo create`. */
    readonly name: string;
    readonly message: string;
    readonly signal: AbortSignal;
    readonly ppmOf: (shareOfStep: number) => number | undefined;
  },
  body: (stepRun: StepRun<Json, Json>) => Promise<T>,
): Promise<StepEnd<T>> {
  const { name, message, signal, ppmOf } = around;
  const progress = createStepProgress(run.write, message, ppmOf);
  run.commandLog.onAdded = progress.wake;
  const stepRun = stepRunOf(run, step, signal, (update) => {
    progress.report(
      update.message === undefined ? update : { ...update, message: run.redact(update.message) },
    );
  });
  try {
    const value = await run.commandLog.during(name, () =>
      stepChannel.tracePromise(async () => body(stepRun), { name }),
    );
    return { ok: true, value };
  } catch (error) {
    return { ok: false, error };
  } finally {
    run.commandLog.onAdded = () => {};
    await progress.stop();
  }
}

/** Returns a step's view of the operation. */
export function stepRunOf(
  run: OperationRun,
  step: AnyStep,
  signal: AbortSignal,
  progress: StepRun<Json, Json>["progress"] = () => {},
): StepRun<Json, Json> {
  const { operation, secrets, outputs, steps } = run;
  return {
    operationId: operation.id,
    token: `${operation.id}.${step.name}`,
    input: operation.input,
    secrets,
    attempt: steps.get(step.name)?.attempt ?? 0,
    output: (name) => outputs.get(name),
    signal,
    progress,
  };
}

/** Converts an error to the failure that callers see. An error that is not an InfraError is only logged. */
export function failureOf(run: OperationRun, what: string, error: unknown): OperationFailure {
  if (error instanceof InfraError) {
    const { code, reason, declared } = error;
    return { code, reason, retryable: declared.retryable, message: run.redact(error.message) };
  }
  run.onFault(what, redactedError(error, run.redact));
  return {
    code: "INTERNAL",
    reason: hostReasons.INTERNAL.id,
    message: `${what} failed; see the gateway's log`,
  };
}
