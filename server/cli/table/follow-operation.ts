import {
  type Operation,
  OperationService,
  OperationState,
  WatchOperationResponseSchema,
} from "../../../gen/hostplane/v1/operation_pb.ts";
import { jsonOfMessage } from "./message-json.ts";
import { operationSummary } from "./operation-text.ts";
import type { Printer } from "./printer.ts";
import type { Session } from "./session.ts";

/** Prints an operation now and after every change, until it ends. Returns whether it has completed. */
export async function followOperation(session: Session, id: string, printer: Printer): Promise<boolean> {
  const { messages } = await session.follow(OperationService.method.watchOperation, { id });
  let last: Operation | undefined;
  for await (const message of messages) {
    const { operation } = message;
    last = operation;
    if (printer.format === "json" || printer.format === "yaml") {
      printer.documentInStream(jsonOfMessage(WatchOperationResponseSchema, message));
    } else if (operation !== undefined && printer.format === "table") {
      printer.progress(operationSummary(operation), operation.progress);
    }
  }
  // A terminal has shown only a line that the next output replaces.
  if (last !== undefined && printer.format === "table" && printer.isTerminal) {
    printer.out(operationSummary(last));
  }
  if (last !== undefined && printer.format === "name") {
    printer.out(last.id);
  }
  return last?.state === OperationState.COMPLETED;
}
