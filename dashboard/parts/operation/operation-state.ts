import { OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";
import type { StatusKind } from "../status.tsx";

const texts: Readonly<Record<number, string>> = {
  [OperationState.UNSPECIFIED]: "unknown",
  [OperationState.SCHEDULED]: "queued",
  [OperationState.ACTIVE]: "running",
  [OperationState.UNDOING]: "undoing",
  [OperationState.COMPLETED]: "completed",
  [OperationState.FAILED]: "failed",
  [OperationState.CANCELLED]: "cancelled",
  [OperationState.NEEDS_ATTENTION]: "needs attention",
};

const statuses: Readonly<Record<number, StatusKind>> = {
  [OperationState.UNSPECIFIED]: "unknown",
  [OperationState.SCHEDULED]: "off",
  [OperationState.ACTIVE]: "running",
  [OperationState.UNDOING]: "running",
  [OperationState.COMPLETED]: "ok",
  [OperationState.FAILED]: "failed",
  [OperationState.CANCELLED]: "off",
  [OperationState.NEEDS_ATTENTION]: "failed",
};

/** Returns the word for a state, or its number for a state of a newer gateway. */
export function operationStateText(state: OperationState): string {
  return texts[state] ?? `state ${state}`;
}

/** Returns the colour and symbol of a state. */
export function operationStatus(state: OperationState): StatusKind {
  return statuses[state] ?? "unknown";
}
