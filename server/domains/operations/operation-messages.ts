import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type OperationCommandSchema,
  type OperationSchema,
  OperationState as StateNumber,
  StepState as StepStateNumber,
} from "../../../gen/hostplane/v1/operation_pb.ts";
import type { Json, Operation, OperationState, StepState } from "../../operations/operation.ts";
import type { OperationCommand } from "../../operations/operations.ts";

/** Numbers of states in messages. */
export const numberOfState: Readonly<Record<OperationState, StateNumber>> = {
  scheduled: StateNumber.SCHEDULED,
  active: StateNumber.ACTIVE,
  undoing: StateNumber.UNDOING,
  completed: StateNumber.COMPLETED,
  failed: StateNumber.FAILED,
  cancelled: StateNumber.CANCELLED,
  needsAttention: StateNumber.NEEDS_ATTENTION,
};

const numberOfStepState: Readonly<Record<StepState, StepStateNumber>> = {
  pending: StepStateNumber.PENDING,
  running: StepStateNumber.RUNNING,
  done: StepStateNumber.DONE,
  failed: StepStateNumber.FAILED,
  undoing: StepStateNumber.UNDOING,
  undone: StepStateNumber.UNDONE,
  undoFailed: StepStateNumber.UNDO_FAILED,
};

/** Converts an operation to its message. */
export function operationMessage(operation: Operation): MessageInitShape<typeof OperationSchema> {
  const { state, doneBytes, totalBytes, progress, steps, failure, attention, result = null } = operation;
  const struct = structFrom(result);
  return {
    id: operation.id,
    kind: operation.kind,
    resource: operation.resource,
    state: numberOfState[state],
    message: operation.message,
    ...(progress === undefined ? {} : { progress }),
    ...(doneBytes === undefined ? {} : { doneBytes: BigInt(doneBytes) }),
    ...(totalBytes === undefined ? {} : { totalBytes: BigInt(totalBytes) }),
    step: operation.step ?? "",
    steps: steps.map((step) => ({
      name: step.name,
      state: numberOfStepState[step.state],
      attempt: step.attempt,
      ...timeProperty("startedAt", step.startedAtMs),
      ...timeProperty("endedAt", step.endedAtMs),
      error: step.error ?? "",
    })),
    actor: operation.actor,
    rpc: operation.rpc,
    host: operation.host ?? "",
    waitingFor: operation.waitingFor,
    cancelRequested: operation.isCancelRequested,
    cancellable: operation.isCancellable,
    attempt: operation.attempt,
    ...(failure === undefined
      ? {}
      : { error: { code: failure.code, reason: failure.reason, message: failure.message } }),
    ...(attention === undefined
      ? {}
      : { attention: { left: [...attention.left], advice: [...attention.advice] } }),
    ...(struct === undefined ? {} : { result: struct }),
    createdAt: timestampFromMs(operation.createdAtMs),
    ...timeProperty("startedAt", operation.startedAtMs),
    ...timeProperty("endedAt", operation.endedAtMs),
  };
}

/** Converts a command to its message. */
export function commandMessage(command: OperationCommand): MessageInitShape<typeof OperationCommandSchema> {
  const { atMs, step, argv, exitCode, signal, durationMs, host } = command;
  return {
    at: timestampFromMs(atMs),
    step,
    command: [...argv],
    ...(exitCode === undefined ? {} : { exitCode }),
    signal: signal ?? "",
    durationMs: BigInt(durationMs),
    host,
  };
}

function timeProperty<Name extends string>(
  name: Name,
  ms: number | undefined,
): { readonly [N in Name]?: Timestamp } {
  return ms === undefined ? {} : ({ [name]: timestampFromMs(ms) } as { readonly [N in Name]: Timestamp });
}

/** Converts a result to a Struct, which can only hold an object: other values become its `value`, and null is absent. */
function structFrom(result: Json): JsonObject | undefined {
  if (result === null) {
    return undefined;
  }
  return (typeof result === "object" && !Array.isArray(result) ? result : { value: result }) as JsonObject;
}
