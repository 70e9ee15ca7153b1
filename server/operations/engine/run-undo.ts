import { hostReasons } from "../../../adapters/host/reasons.ts";
import type { StepState } from "../operation.ts";
import { attentionOf } from "./attention.ts";
import { type AnyStep, failureOf, type OperationRun, performStep, type RunEnd } from "./operation-run.ts";
import { pause } from "./pause.ts";

const maxAttempts = 3;

/** Steps in these states have done nothing, or nothing that still exists. */
const nothingToUndo: ReadonlySet<StepState> = new Set(["pending", "undone"]);

/** Undoes the completed steps, last one first, until the operation ends. */
export async function runUndo(run: OperationRun): Promise<RunEnd> {
  for (const step of run.kind.steps.toReversed()) {
    if (!nothingToUndo.has(run.steps.get(step.name)?.state ?? "pending")) {
      // A step without `undo` has left nothing, so its undo is not reported.
      const end = step.undo === undefined ? await endUndo(run, step) : await undoStep(run, step);
      if (end !== "undone") {
        return end;
      }
    }
  }
  const unknown = unknownSteps(run);
  if (unknown.length > 0) {
    return giveUpUnknown(run, unknown);
  }
  const outcome = await run.write("operations.endUndo", {});
  return outcome === "lost" ? "lost" : "ended";
}

async function undoStep(run: OperationRun, step: AnyStep): Promise<RunEnd | "undone"> {
  const { lease, closing, write, boundary } = run;
  // An operation that only waits for others can be released; it continues at the next start, or elsewhere.
  const isReleasable = run.kind.followsChange === true;
  const signal = isReleasable ? AbortSignal.any([lease.lost, closing]) : lease.lost;
  let error: string | undefined;
  for (let failures = 0; ; ) {
    if (closing.aborted) {
      return "released";
    }
    const message = `undoing: ${step.title}`;
    const written = await write("operations.beginUndoStep", { step: step.name, error, message });
    if (written === "lost" || (await lease.isLost())) {
      return "lost";
    }
    const around = { name: `undo ${step.name}`, message, signal, ppmOf: () => undefined };
    const end = await performStep(run, step, around, async (stepRun) => {
      await boundary?.(`before undo ${step.name}`);
      await step.undo?.(stepRun);
      await boundary?.(`after undo ${step.name}`);
    });
    if (end.ok) {
      return endUndo(run, step);
    }
    if (await lease.isLost()) {
      return "lost";
    }
    if (isReleasable && closing.aborted) {
      return "released";
    }
    failures += 1;
    const failure = failureOf(run, `undoing step ${step.name}`, end.error);
    if (failures >= maxAttempts) {
      const outcome = await write("operations.giveUp", {
        failed: { step: step.name, state: "undoFailed" },
        failure,
        attention: attentionOf(run, step, end.error, failure),
      });
      return outcome === "lost" ? "lost" : "ended";
    }
    error = failure.message;
    await pause(failures, run.firstPauseMs, [lease.lost, closing]);
  }
}

async function endUndo({ write }: OperationRun, { name }: AnyStep): Promise<"lost" | "undone"> {
  const outcome = await write("operations.endUndoStep", { step: name });
  return outcome === "lost" ? "lost" : "undone";
}

/** Returns steps that another version of the kind has run and this version does not have. */
function unknownSteps({ kind, steps }: OperationRun): string[] {
  const known = new Set(kind.steps.map(({ name }) => name));
  return [...steps].flatMap(([name, { state }]) =>
    known.has(name) || nothingToUndo.has(state) ? [] : [name],
  );
}

async function giveUpUnknown(run: OperationRun, names: readonly string[]): Promise<RunEnd> {
  const message = `this version of the gateway cannot undo ${names.join(", ")}`;
  const outcome = await run.write("operations.giveUp", {
    failed: { step: names.at(-1) ?? "", state: "undoFailed" },
    failure: { code: "INTERNAL", reason: hostReasons.INTERNAL.id, message },
    attention: {
      left: names.map((name) => `What step ${name} created may still exist.`),
      advice: ["Retry the operation with the version of the gateway that started it."],
    },
  });
  return outcome === "lost" ? "lost" : "ended";
}
