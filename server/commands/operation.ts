import { toJson } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type Operation,
  OperationCommandSchema,
  OperationSchema,
  OperationState,
} from "../../gen/hostplane/v1/operation_pb.ts";
import {
  commandLines,
  operationHead,
  operationLines,
  operationRow,
  operationSummary,
} from "../cli/table/operation-lines.ts";
import { type OperationStateName, operationStateFromName } from "../cli/table/operation-state.ts";
import type { ExitCode } from "../cli/table/output.ts";
import { textTable } from "../cli/table/text-table.ts";
import { followOperation } from "./follow-operation.ts";
import { type AdminOptions, type CommandContext, runAdminCommand } from "./run-admin-command.ts";

export interface ListOperationsOptions extends AdminOptions {
  readonly state?: readonly OperationStateName[];
  readonly kind?: string;
  readonly resource?: string;
  readonly actor?: string;
  readonly from?: Date;
  readonly to?: Date;
  readonly limit?: number;
}

const limitDefault = 100;

/** Prints the newest operations that match every filter, as a table or as a JSON array of the API's messages. */
export function listOperations(options: ListOperationsOptions, context: CommandContext): Promise<ExitCode> {
  const { state = [], kind = "", resource = "", actor = "", from, to, limit = limitDefault } = options;
  const query = {
    states: state.map(operationStateFromName),
    kind,
    resource,
    actor,
    ...(from === undefined ? {} : { from: timestampFromDate(from) }),
    ...(to === undefined ? {} : { to: timestampFromDate(to) }),
  };
  return runAdminCommand(options, context, async (client) => {
    const operations: Operation[] = [];
    let pageToken = "";
    do {
      const pageSize = Math.min(limit - operations.length, 1000);
      const page = await client.operations.listOperations({ ...query, pageSize, pageToken });
      operations.push(...page.operations);
      pageToken = page.nextPageToken;
    } while (pageToken !== "" && operations.length < limit);
    if (options.json === true) {
      context.output.out(JSON.stringify(operations.map(jsonOf), null, 2));
      return;
    }
    for (const line of textTable(operationHead, operations.map(operationRow))) {
      context.output.out(line);
    }
  });
}

/** Prints everything known about an operation. */
export function showOperation(id: string, options: AdminOptions, context: CommandContext): Promise<ExitCode> {
  return runAdminCommand(options, context, async ({ operations }) => {
    const { operation } = await operations.getOperation({ id });
    if (options.json === true) {
      context.output.out(JSON.stringify(operation && jsonOf(operation), null, 2));
      return;
    }
    for (const line of operation === undefined ? [] : operationLines(operation)) {
      context.output.out(line);
    }
  });
}

/** Prints an operation now and after every change, until it ends. Returns 1 unless it completed. */
export async function watchOperation(
  id: string,
  options: AdminOptions,
  context: CommandContext,
): Promise<ExitCode> {
  let state: OperationState | undefined;
  const code = await runAdminCommand(options, context, async (client) => {
    state = await followOperation(client, id, options.json === true, context.output);
  });
  return code === 0 && state !== OperationState.COMPLETED ? 1 : code;
}

/** Requests the cancellation of an operation. */
export function cancelOperation(
  id: string,
  options: AdminOptions,
  context: CommandContext,
): Promise<ExitCode> {
  return runAdminCommand(options, context, async ({ operations }) => {
    const { operation } = await operations.cancelOperation({ id });
    if (operation !== undefined) {
      context.output.out(`requested cancellation of ${id}: ${operationSummary(operation)}`);
    }
  });
}

/** Resumes an operation that has failed or needs attention. */
export function retryOperation(
  id: string,
  options: AdminOptions,
  context: CommandContext,
): Promise<ExitCode> {
  return runAdminCommand(options, context, async ({ operations }) => {
    const { operation } = await operations.retryOperation({ id });
    if (operation !== undefined) {
      context.output.out(`resumed ${id}: ${operationSummary(operation)}`);
    }
  });
}

/** Prints the commands that an operation has run, in shell syntax or as JSON lines. */
export function listCommands(id: string, options: AdminOptions, context: CommandContext): Promise<ExitCode> {
  return runAdminCommand(options, context, async ({ operations }) => {
    let pageToken = "";
    do {
      const page = await operations.listCommands({ id, pageSize: 1000, pageToken });
      for (const command of page.commands) {
        const lines =
          options.json === true
            ? [JSON.stringify(toJson(OperationCommandSchema, command, { alwaysEmitImplicit: true }))]
            : commandLines(command);
        for (const line of lines) {
          context.output.out(line);
        }
      }
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
  });
}

function jsonOf(operation: Operation) {
  return toJson(OperationSchema, operation, { alwaysEmitImplicit: true });
}
