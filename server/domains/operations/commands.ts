import {
  OperationCommandSchema,
  OperationSchema,
  OperationService,
  OperationStateSchema,
} from "../../../gen/hostplane/v1/operation_pb.ts";
import { change, custom, list, log, type Noun, show } from "../../cli/table/command.ts";
import { followOperation } from "../../cli/table/follow-operation.ts";
import { commandLines, operationSummary, operationView } from "../../cli/table/operation-text.ts";
import {
  argument,
  count,
  enumChoice,
  nameOf,
  option,
  optionList,
  time,
  word,
} from "../../cli/table/parameter.ts";
import { type Reference, uuid } from "../../cli/table/reference.ts";

const operations: Reference = {
  noun: "operation",
  fullId: uuid,
  async list(session) {
    const { message } = await session.call(OperationService.method.listOperations, { pageSize: 1000 });
    return message.operations.map(({ id }) => ({ id, names: [] }));
  },
};

const id = argument("operation id, or a prefix of it", nameOf("id", operations));

/** Long-running operations of all domains. */
export const operationNoun: Noun = {
  reference: operations,
  commands: [
    list({
      name: "list",
      summary: "list operations, newest first",
      isOffline: true,
      parameters: {
        state: optionList("only this state", enumChoice("state", OperationStateSchema)),
        kind: option("only this kind (volumes.backup), or all kinds of a domain (volumes)", word("kind")),
        resource: option("only this resource or anything below it", word("resource")),
        actor: option("only this caller, e.g. user/alice", word("actor")),
        from: option("requested at or after this time, e.g. 2026-01-31T00:00:00Z", time),
        to: option("requested before this time", time),
        limit: option("maximum number of operations (default: 100)", count),
      },
      method: OperationService.method.listOperations,
      schema: OperationSchema,
      items: (response) => response.operations,
      columns: {
        HOST: "fleetHost",
        ID: "id",
        KIND: "kind",
        RESOURCE: "resource",
        REQUESTED: "createdAt",
        STATE: operationSummary,
      },
      optionalColumns: ["HOST"],
      notes: (response) => response.missingHosts.map(({ message }) => message),
    }),
    show({
      name: "show",
      summary: "show an operation",
      isOffline: true,
      parameters: { id },
      method: OperationService.method.getOperation,
      schema: OperationSchema,
      item: (response) => response.operation,
      view: (item) => operationView(item),
    }),
    custom({
      name: "watch",
      summary: "follow an operation until it ends; fail unless it completes",
      isOffline: true,
      parameters: { id },
      run: async (session, values, printer) => ((await followOperation(session, values.id, printer)) ? 0 : 1),
    }),
    change({
      name: "cancel",
      summary:
        "cancel an operation and undo what it has done; without a dry run: `operation show` lists the completed steps",
      isOffline: true,
      isPlannable: false,
      parameters: { id },
      method: OperationService.method.cancelOperation,
      done: ({ operation }, values) =>
        `requested cancellation of ${values.id}: ${operation === undefined ? "" : operationSummary(operation)}`,
    }),
    change({
      name: "retry",
      summary:
        "resume an operation that has failed or needs attention; without a dry run: `operation show` lists the other steps",
      isOffline: true,
      isPlannable: false,
      parameters: { id },
      method: OperationService.method.retryOperation,
      done: ({ operation }, values) =>
        `resumed ${values.id}: ${operation === undefined ? "" : operationSummary(operation)}`,
    }),
    log({
      name: "commands",
      summary: "list the commands that an operation has run, oldest first",
      isOffline: true,
      parameters: { id },
      method: OperationService.method.listCommands,
      schema: OperationCommandSchema,
      items: (response) => response.commands,
      lines: commandLines,
    }),
  ],
};
