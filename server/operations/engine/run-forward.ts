import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { Json } from "../operation.ts";
import { attentionOf } from "./attention.ts";
import {
  type AnyStep,
  failureOf,
  type OperationRun,
  performStep,
  type RunEnd,
  type StepEnd,
} from "./operation-run.ts";
import { pause } from "./pause.ts";

const defaultAttempts = 3;
const perMillion = 1_000_000;

/** Runs the steps that are not done, until the operation ends or fails. */
export async function runForward(run: OperationRun): Promise<RunEnd> {
  for (const step of run.kind.steps) {
    if (run.steps.get(step.name)?.state !== "done") {
      const end = await runStep(run, step);
      if (end !== "done") {
        return end;
      }
    }
  }
  return complete(run);
}

/** Runs one step, with retries. */
async function runStep(run: OperationRun, step: AnyStep): Promise<RunEnd | "done"> {
  const { lease, closing, write } = run;
  const facts = run.steps.get(step.name) ?? { state: "pending", attempt: 0 };
  run.steps.set(step.name, facts);
  for (let failures = 0; ; ) {
    if (closing.aborted) {
      return "released";
    }
    const wasStarted = facts.state !== "pending";
    const outcome = await write("operations.beginStep", {
      step: step.name,
      attempt: facts.attempt + 1,
      message: step.title,
      progressPpm: ppmOf(run, step, 0),
    });
    if (outcome !== "written") {
      return outcome === "cancelled" ? beginUndo(run, undefined) : "lost";
    }
    facts.attempt += 1;
    facts.state = "running";
    // The process may have been suspended since the write.
    if (await lease.isLost()) {
      return "lost";
    }
    const end = await performForward(run, step, wasStarted);
    if (end.ok) {
      return endStep(run, step, end.value);
    }
    if (await lease.isLost()) {
      return "lost";
    }
    if (step.isAbortable && closing.aborted) {
      return "released";
    }
    if (step.isAbortable && isCancelled(run)) {
      return beginUndo(run, undefined);
    }
    failures += 1;
    const { error } = end;
    // Independent of the error's effect: a step recognizes what an earlier attempt has done.
    const isWorthRepeating =
      error instanceof InfraError && error.declared.retryable && !error.is(...(step.finalReasons ?? []));
    if (!isWorthRepeating || failures >= (step.maxAttempts ?? defaultAttempts)) {
      return failFinally(run, step, error);
    }
    const { message } = failureOf(run, `step ${step.name}`, error);
    const failed = await write("operations.failStep", {
      step: step.name,
      error: message,
      message: `${step.title}: failed, retrying: ${message}`,
    });
    if (failed === "lost") {
      return "lost";
    }
    await pause(failures, run.firstPauseMs, [...stopSignals(run), closing]);
  }
}

/** @param wasStarted whether an earlier run may have had an effect */
async function performForward(run: OperationRun, step: AnyStep, wasStarted: boolean): Promise<StepEnd<Json>> {
  const { lease, closing, boundary } = run;
  const signals = step.isAbortable ? [...stopSignals(run), closing] : [lease.lost];
  const around = {
    name: step.name,
    message: step.title,
    signal: AbortSignal.any(signals),
    ppmOf: (share: number) => ppmOf(run, step, share),
  };
  return performStep(run, step, around, async (stepRun) => {
    const happened = wasStarted ? await step.happened?.(stepRun) : undefined;
    if (happened !== undefined) {
      return happened.output;
    }
    await boundary?.(`before forward ${step.name}`);
    const output = await step.forward(stepRun);
    await boundary?.(`after forward ${step.name}`);
    return output;
  });
}

async function endStep(run: OperationRun, step: AnyStep, output: Json): Promise<RunEnd | "done"> {
  const isPastReturn = run.isPastReturn || step.name === run.kind.pointOfNoReturn;
  const ended = await run.write("operations.endStep", {
    step: step.name,
    outputJson: JSON.stringify(output),
    isPastReturn,
    progressPpm: ppmOf(run, step, 1),
  });
  if (ended !== "written") {
    return "lost";
  }
  run.steps.set(step.name, { attempt: run.steps.get(step.name)?.attempt ?? 1, state: "done" });
  run.outputs.set(step.name, output);
  run.isPastReturn = isPastReturn;
  return "done";
}

async function failFinally(run: OperationRun, step: AnyStep, error: unknown): Promise<RunEnd> {
  const failure = failureOf(run, `step ${step.name}`, error);
  if (!run.isPastReturn) {
    return beginUndo(run, { step: step.name, failure });
  }
  const outcome = await run.write("operations.giveUp", {
    failed: { step: step.name, state: "failed" },
    failure,
    attention: attentionOf(run, step, error, failure),
  });
  return outcome === "lost" ? "lost" : "ended";
}

/** @param failed undefined: it was cancelled */
async function beginUndo(
  run: OperationRun,
  failed: { step: string; failure: ReturnType<typeof failureOf> } | undefined,
): Promise<RunEnd> {
  const message =
    failed === undefined
      ? "cancelled; undoing completed steps"
      : `${failed.failure.message}; undoing completed steps`;
  const outcome = await run.write("operations.beginUndo", { failed, message });
  return outcome === "lost" ? "lost" : "undo";
}

async function complete(run: OperationRun): Promise<RunEnd> {
  const { kind, operation, outputs, closing } = run;
  const last = kind.steps.at(-1);
  if (closing.aborted) {
    return "released";
  }
  let result: Json;
  try {
    result = kind.result({
      operationId: operation.id,
      input: operation.input,
      output: (name) => outputs.get(name),
    });
  } catch (error) {
    return last === undefined ? "lost" : failFinally(run, last, error);
  }
  const outcome = await run.write("operations.complete", { resultJson: JSON.stringify(result) });
  if (outcome === "cancelled") {
    return beginUndo(run, undefined);
  }
  return outcome === "lost" ? "lost" : "ended";
}

/** Returns the signals that stop a step. */
function stopSignals({ isPastReturn, lease }: OperationRun): AbortSignal[] {
  return isPastReturn ? [lease.lost] : [lease.lost, lease.cancelled];
}

function isCancelled({ isPastReturn, lease }: OperationRun): boolean {
  return lease.cancelled.aborted && !isPastReturn;
}

/** Computes the completed share of the whole operation in ppm, given the share of a step. */
function ppmOf({ kind }: OperationRun, step: AnyStep, shareOfStep: number): number {
  const weights = kind.steps.map(({ weight = 1 }) => weight);
  const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
  const before = kind.steps.indexOf(step);
  const done = sum(weights.slice(0, before)) + (weights[before] ?? 0) * shareOfStep;
  return Math.round((perMillion * done) / Math.max(sum(weights), Number.MIN_VALUE));
}
