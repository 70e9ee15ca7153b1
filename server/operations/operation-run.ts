import { InfraError } from "../../adapters/host/infra-error.ts";
import type { CommandLog } from "./command-log.ts";
import type { Boundary, FencedWrite } from "./fenced-writes.ts";
import type { Lease } from "./lease.ts";
import { stepChannel } from "./observation.ts";
import type { Json, Operation, OperationFailure, StepState } from "./operation.ts";
import type { OperationKind, OperationStep, StepRun } from "./operation-kind.ts";
import { redactedError } from "./operation-secrets.ts";
import { createStepProgress } from "./step-progress.ts";

/** A kind as the engine sees it, which does not know what its operations are about. */
export type AnyKind = OperationKind<Json, Json>;
export type AnyStep = OperationStep<Json, Json>;

/** An operation that this gateway has claimed, while it runs it. */
export interface OperationRun {
  readonly kind: AnyKind;
  /** As it was claimed. */
  readonly operation: Operation;
  readonly secrets: Json;
  /** Leaves the secrets out of a text. */
  readonly redact: (text: string) => string;
  /** What the steps that are done have returned. */
  readonly outputs: Map<string, Json>;
  readonly steps: Map<string, { state: StepState; attempt: number }>;
  isPastReturn: boolean;
  readonly lease: Lease;
  readonly write: FencedWrite;
  readonly commandLog: CommandLog;
  /** Aborted when the gateway stops. */
  readonly closing: AbortSignal;
  /** The pause before the second attempt; later ones are longer. */
  readonly firstPauseMs: number;
  /** Told of errors that are no InfraError, which say nothing to who asked. */
  readonly onFault: (what: string, error: unknown) => void;
  readonly boundary: Boundary | undefined;
}

/**
 * How running it went. `lost`: another gateway has it. `released`: this one stops, and another may go on. `undo`: what was
 * done is to be undone.
 */
export type RunEnd = "ended" | "lost" | "released" | "undo";

/** How a function of a step ended. */
export type StepEnd<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: unknown };

/** Runs a function of a step, with all that is around it. */
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
  const stepRun = stepRunOf(run, step, signal, (told) => {
    progress.tell(told.message === undefined ? told : { ...told, message: run.redact(told.message) });
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

/** What a step sees of the operation. */
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

/** What is told of an error: of one that is no InfraError only that there was one. */
export function failureOf(run: OperationRun, what: string, error: unknown): OperationFailure {
  if (error instanceof InfraError) {
    return { code: error.code, reason: error.reason, message: run.redact(error.message) };
  }
  run.onFault(what, redactedError(error, run.redact));
  return { code: "INTERNAL", reason: "INTERNAL", message: `${what} failed; the log of the gateway says why` };
}
