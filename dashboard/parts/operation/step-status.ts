import { type OperationStep, StepState } from "../../../gen/hostplane/v1/operation_pb.ts";
import type { StatusKind } from "../status.tsx";

const statuses: Readonly<Record<number, { readonly kind: StatusKind; readonly text: string }>> = {
  [StepState.PENDING]: { kind: "off", text: "queued" },
  [StepState.RUNNING]: { kind: "running", text: "running" },
  [StepState.DONE]: { kind: "ok", text: "done" },
  [StepState.FAILED]: { kind: "failed", text: "failed" },
  [StepState.UNDOING]: { kind: "running", text: "undoing" },
  [StepState.UNDONE]: { kind: "off", text: "undone" },
  [StepState.UNDO_FAILED]: { kind: "failed", text: "could not be undone" },
};

/** The shape and the word of a step's state. A step that failed keeps its error when it has been undone. */
export function stepStatus({ state, error }: Pick<OperationStep, "state" | "error">): {
  readonly kind: StatusKind;
  readonly text: string;
} {
  return state === StepState.UNDONE && error !== ""
    ? { kind: "failed", text: "failed, undone" }
    : (statuses[state] ?? { kind: "unknown", text: `state ${state}` });
}
