import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import {
  type Operation,
  type OperationCommand,
  OperationState,
  StepState,
} from "../../../gen/hostplane/v1/operation_pb.ts";
import { nameOfOperationState } from "./operation-state.ts";
import { printableLine } from "./printable-line.ts";
import { textTable } from "./text-table.ts";

export const operationHead = ["ID", "KIND", "RESOURCE", "REQUESTED", "STATE"];

/** Returns a row of the table headed by `operationHead`. */
export function operationRow(operation: Operation): string[] {
  const { id, kind, resource, createdAt } = operation;
  return [id, kind, resource, timeText(createdAt), operationSummary(operation)];
}

/** Describes an operation's progress in one line. */
export function operationSummary(operation: Operation): string {
  const { state, waitingFor, message, progress, error } = operation;
  const percent = progress === undefined ? "" : ` ${Math.floor(progress * 100)} %`;
  const name = nameOfOperationState(state);
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

/** Lists everything known about an operation, one fact per line, followed by its steps. */
export function operationLines(operation: Operation): string[] {
  const { doneBytes, totalBytes, attention, result } = operation;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["id", operation.id],
    ["kind", operation.kind],
    ["resource", operation.resource],
    ["state", operationSummary(operation)],
    ["bytes", doneBytes === undefined ? undefined : `${doneBytes} of ${totalBytes ?? "?"}`],
    ["requested", `${timeText(operation.createdAt)} by ${operation.actor}, ${operation.rpc}`],
    ["started", timeText(operation.startedAt)],
    ["ended", timeText(operation.endedAt)],
    ["host", operation.host],
    ["cancel", operation.cancelRequested ? "requested" : operation.cancellable ? "possible" : "not possible"],
    ["result", result === undefined ? undefined : JSON.stringify(result)],
    ...(attention?.left ?? []).map((line) => ["left", line] as const),
    ...(attention?.advice ?? []).map((line) => ["to do", line] as const),
  ];
  const known = facts.flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [`${name.padEnd(10)} ${printableLine(value)}`],
  );
  const rows = operation.steps.map(({ name, state, attempt, startedAt, endedAt, error }) => [
    name,
    nameOfStepState(state),
    String(attempt),
    timeText(startedAt),
    timeText(endedAt),
    printableLine(error),
  ]);
  return [...known, "", ...textTable(["STEP", "STATE", "ATTEMPT", "STARTED", "ENDED", "ERROR"], rows)];
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
  return [`${timeText(at)} ${step}: ${end} after ${durationMs} ms`, `  ${command.map(shellWord).join(" ")}`];
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function timeText(time: Timestamp | undefined): string {
  return time === undefined ? "" : timestampDate(time).toISOString();
}

function nameOfStepState(state: StepState): string {
  const [name] = Object.entries(StepState).find(([, number]) => number === state) ?? [String(state)];
  return name.toLowerCase().replaceAll("_", "-");
}
