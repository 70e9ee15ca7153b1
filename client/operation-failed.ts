import { type Operation, OperationStateSchema } from "../gen/hostplane/v1/operation_pb.ts";

/** An operation has ended otherwise than COMPLETED; `operation` tells how, why and what is left of it. */
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
