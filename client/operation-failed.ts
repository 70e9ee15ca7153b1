import { type Operation, OperationStateSchema } from "../gen/hostplane/v1/operation_pb.ts";

/** Thrown when an operation ends as anything but COMPLETED. `operation` has its state, the error and what is left. */
export class OperationFailed extends Error {
  override readonly name = "OperationFailed";
  readonly operation: Operation;

  constructor(operation: Operation) {
    const state = OperationStateSchema.value[operation.state]?.localName ?? String(operation.state);
    const why = operation.error?.message ?? operation.attention?.left.join(" ") ?? operation.message;
    super(`operation ${operation.id} (${operation.kind}) ended as ${state}${why === "" ? "" : `: ${why}`}`);
    this.operation = operation;
  }
}
