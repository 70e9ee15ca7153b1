import { type OperationStep, StepState } from "../../../gen/hostplane/v1/operation_pb.ts";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { TimeText } from "../../parts/text/time-text.tsx";
import { stepTookText } from "./step-took-text.ts";

const states: Readonly<Record<number, { readonly tone: Tone; readonly text: string }>> = {
  [StepState.PENDING]: { tone: "off", text: "not started" },
  [StepState.RUNNING]: { tone: "busy", text: "running" },
  [StepState.DONE]: { tone: "ok", text: "done" },
  [StepState.FAILED]: { tone: "bad", text: "failed" },
  [StepState.UNDOING]: { tone: "warn", text: "undoing" },
  [StepState.UNDONE]: { tone: "off", text: "undone" },
  [StepState.UNDO_FAILED]: { tone: "bad", text: "could not be undone" },
};

const columns: readonly Column<OperationStep>[] = [
  { title: "Step", cell: ({ name }) => name },
  {
    title: "State",
    cell: ({ state }) => {
      const { tone, text } = states[state] ?? { tone: "off", text: "unknown" };
      return <Badge tone={tone}>{text}</Badge>;
    },
  },
  { title: "Started", cell: ({ startedAt }) => <TimeText at={startedAt} /> },
  { title: "Took", cell: (step) => stepTookText(step), isNumber: true },
  { title: "Attempts", cell: ({ attempt }) => (attempt === 0 ? "" : attempt), isNumber: true },
  { title: "Error", cell: ({ error }) => error },
];

/** The steps of an operation in order, with the state of each. */
export function OperationSteps({ steps }: { readonly steps: readonly OperationStep[] }) {
  return (
    <DataTable caption="Steps" columns={columns} rows={steps} keyOf={({ name }) => name} empty="No steps." />
  );
}
