import { toJson } from "@bufbuild/protobuf";
import { type Operation, OperationSchema, OperationState } from "../../gen/hostplane/v1/operation_pb.ts";
import { operationSummary } from "../cli/table/operation-lines.ts";
import type { ExitCode } from "../cli/table/output.ts";
import type { AdminClient } from "../cli/target/admin-client.ts";
import { followOperation } from "./follow-operation.ts";
import { type AdminOptions, type CommandContext, runAdminCommand } from "./run-admin-command.ts";

export interface BeginOperationOptions extends AdminOptions {
  /** Report progress until the operation ends. */
  readonly wait?: boolean;
}

/**
 * Prints the operation that `begin` starts. With `wait` it also prints the progress and returns 1 unless the operation
 * completes. Needs a running gateway.
 */
export async function beginOperation(
  options: BeginOperationOptions,
  context: CommandContext,
  begin: (client: AdminClient) => Promise<{ readonly operation?: Operation | undefined }>,
): Promise<ExitCode> {
  let state: OperationState | undefined;
  const work = async (client: AdminClient) => {
    const { operation } = await begin(client);
    if (operation === undefined) {
      return;
    }
    if (options.wait === true) {
      state = await followOperation(client, operation.id, options.json === true, context.output);
    } else if (options.json === true) {
      context.output.out(JSON.stringify(toJson(OperationSchema, operation, { alwaysEmitImplicit: true })));
    } else {
      context.output.out(`operation ${operation.id}: ${operationSummary(operation)}`);
    }
  };
  const code = await runAdminCommand(options, context, work, { mustRun: true });
  return code === 0 && options.wait === true && state !== OperationState.COMPLETED ? 1 : code;
}
