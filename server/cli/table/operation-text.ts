import {
  type Operation,
  type OperationCommand,
  OperationState,
  OperationStateSchema,
  StepStateSchema,
} from "../../../gen/hostplane/v1/operation_pb.ts";
import { enumText } from "./enum-text.ts";
import { printableLine } from "./printable-line.ts";
import { timeText } from "./time-text.ts";
import type { View } from "./view.ts";

/** Describes an operation's progress in one line. */
export function operationSummary(operation: Operation): string {
  const { state, waitingFor, message, progress, error } = operation;
  const percent = progress === undefined ? "" : ` ${Math.floor(progress * 100)} %`;
  const name = enumText(OperationStateSchema, state);
  switch (state) {
    case OperationState.SCHEDULED:
      return withWords(name, waitingFor);
    case OperationState.ACTIVE:
    case OperationState.UNDOING:
      return withWords(`${name}${percent}`, waitingFor === "" ? message : `waiting: ${waitingFor}`);
    case OperationState.COMPLETED:
      return name;
    case OperationState.NEEDS_ATTENTION:
      return withWords(name, error === undefined ? message : `${error.reason}: ${error.message}`);
    default:
      return withWords(name, error === undefined ? "" : `${error.reason}: ${error.message}`);
  }
}

function withWords(name: string, words: string): string {
  return words === "" ? name : `${name}: ${printableLine(words)}`;
}

/** Lists everything known about an operation, with its steps. */
export function operationView(operation: Operation): View {
  const { doneBytes, totalBytes, attention, result } = operation;
  return {
    facts: [
      ["id", operation.id],
      ["kind", operation.kind],
      ["resource", operation.resource],
      ["state", operationSummary(operation)],
      ["bytes", doneBytes === undefined ? "" : `${doneBytes} of ${totalBytes ?? "?"}`],
      ["requested", `${timeText(operation.createdAt)} by ${operation.actor}, ${operation.rpc}`],
      ["started", timeText(operation.startedAt)],
      ["ended", timeText(operation.endedAt)],
      ["host", operation.host],
      [
        "cancel",
        operation.cancelRequested ? "requested" : operation.cancellable ? "possible" : "not possible",
      ],
      ["result", result === undefined ? "" : JSON.stringify(result)],
      ...(attention?.left ?? []).map((line) => ["left", line] as const),
      ...(attention?.advice ?? []).map((line) => ["to do", line] as const),
    ],
    tables: [
      {
        head: ["STEP", "STATE", "ATTEMPT", "STARTED", "ENDED", "ERROR"],
        rows: operation.steps.map(({ name, state, attempt, startedAt, endedAt, error }) => [
          name,
          enumText(StepStateSchema, state),
          String(attempt),
          timeText(startedAt),
          timeText(endedAt),
          error,
        ]),
      },
    ],
  };
}

/** Formats when and in which step a command was run and how it ended, followed by the command in shell syntax. */
export function commandLines({
  at,
  step,
  command,
  exitCode,
  signal,
  durationMs,
}: OperationCommand): string[] {
  const end = signal !== "" ? signal : exitCode === undefined ? "not started" : `exit code ${exitCode}`;
  return [`${timeText(at)} ${step}: ${end} after ${durationMs} ms`, `  ${shellCommand(command)}`];
}

/** Formats a command in shell syntax. */
export function shellCommand(command: readonly string[]): string {
  return command.map(shellWord).join(" ");
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
