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

export function operationStateText(state: OperationState): string {
  return texts[state] ?? `state ${state}`;
}

export function operationStatus(state: OperationState): StatusKind {
  return statuses[state] ?? "unknown";
}
