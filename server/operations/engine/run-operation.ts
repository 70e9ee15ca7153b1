import type { StepState } from "../operation.ts";
import { failureOf, type OperationRun, type RunEnd } from "./operation-run.ts";
import { runForward } from "./run-forward.ts";
import { runUndo } from "./run-undo.ts";

/**
 * Runs an operation from its current position: forward, or only undo once undoing has begun.
 * @returns `ended` once it is completed, undone or needs attention
 */
export async function runOperation(run: OperationRun): Promise<Exclude<RunEnd, "undo">> {
  const end = run.operation.state === "undoing" ? "undo" : await runForward(run);
  return end === "undo" ? ((await runUndo(run)) as Exclude<RunEnd, "undo">) : end;
}

const stands: ReadonlySet<StepState> = new Set(["running", "done", "failed", "undoing", "undoFailed"]);

/**
 * Ends an operation whose secrets cannot be decrypted: its steps can be neither run nor undone without them. If no step has
 * begun, the operation fails; otherwise it needs attention.
 */
export async function giveUpSealed(run: OperationRun, error: unknown): Promise<void> {
  const failure = failureOf(run, "decrypting the secrets", error);
  const started = [...run.steps].filter(([, { state }]) => stands.has(state));
  const last = started.at(-1);
  if (last === undefined) {
    const failed = run.operation.steps[0];
    if (run.operation.state !== "undoing" && failed !== undefined) {
      const facts = { failed: { step: failed.name, failure }, message: failure.message };
      if ((await run.write("operations.beginUndo", facts)) === "lost") {
        return;
      }
    }
    await run.write("operations.endUndo", {});
    return;
  }
  const [step] = last;
  await run.write("operations.giveUp", {
    failed: { step, state: run.operation.state === "undoing" ? "undoFailed" : "failed" },
    failure,
    attention: {
      left: started.map(([name]) => `Step ${name} was not undone.`),
      advice: [
        "Start the gateway with the master key that the operation was started with, then retry the operation.",
      ],
    },
  });
}
