import { toJson } from "@bufbuild/protobuf";
import { type OperationState, WatchOperationResponseSchema } from "../../gen/hostplane/v1/operation_pb.ts";
import { operationSummary } from "../cli/table/operation-lines.ts";
import type { Output } from "../cli/table/output.ts";
import type { AdminClient } from "../cli/target/admin-client.ts";

/** Prints an operation now and after every change, until it ends. Returns its final state. */
export async function followOperation(
  { operations }: Pick<AdminClient, "operations">,
  id: string,
  isJson: boolean,
  output: Output,
): Promise<OperationState | undefined> {
  let state: OperationState | undefined;
  for await (const message of operations.watchOperation({ id })) {
    state = message.operation?.state;
    if (isJson) {
      output.out(JSON.stringify(toJson(WatchOperationResponseSchema, message, { alwaysEmitImplicit: true })));
    } else if (message.operation !== undefined) {
      output.out(operationSummary(message.operation));
    }
  }
  return state;
}
