import { OperationState } from "../../gen/hostplane/v1/operation_pb.ts";
import type { Tone } from "./badge.tsx";

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

const tones: Readonly<Record<number, Tone>> = {
  [OperationState.UNSPECIFIED]: "off",
  [OperationState.SCHEDULED]: "busy",
  [OperationState.ACTIVE]: "busy",
  [OperationState.UNDOING]: "warn",
  [OperationState.COMPLETED]: "ok",
  [OperationState.FAILED]: "bad",
  [OperationState.CANCELLED]: "off",
  [OperationState.NEEDS_ATTENTION]: "bad",
};

export function operationStateText(state: OperationState): string {
  return texts[state] ?? `state ${state}`;
}

export function operationTone(state: OperationState): Tone {
  return tones[state] ?? "off";
}
