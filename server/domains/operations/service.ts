import {
  OperationCommandSchema,
  OperationSchema,
  OperationService,
} from "../../../gen/hostplane/v1/operation_pb.ts";
import type { VisibilityOf } from "../../domain/visibility.ts";
import { findOperation } from "../../operations/find-operation.ts";
import type { Operation } from "../../operations/operation.ts";
import type { Operations } from "../../operations/operations.ts";
import type { Call } from "../../rpc/call/call.ts";
import { registerService, type ServiceRegistration } from "../../rpc/call/service-handlers.ts";
import { parsePageSize } from "../../rpc/listing/listing-fields.ts";
import { pageTokenFrom, seqFromPageToken } from "../../rpc/listing/page-token.ts";
import { readPage } from "../../rpc/listing/read-page.ts";
import type { FleetOperations } from "./hosts/fleet-operations.ts";
import type { OperationAccess } from "./operation-access.ts";
import { commandMessage, operationMessage } from "./operation-messages.ts";
import { parseOperationId, parseOperationQuery } from "./operation-query.ts";
import { type WatchSources, watchOperation } from "./watch-operation.ts";

export interface OperationServiceOptions {
  readonly operations: Pick<Operations, "get" | "getAtSeq" | "list" | "commands" | "cancel" | "retry">;
  readonly events: WatchSources["events"];
  readonly access: OperationAccess;
  readonly visibilityOf: VisibilityOf;
  /** The operations of all hosts; set on a hub. */
  readonly fleet?: FleetOperations | undefined;
}

/** Creates hostplane.v1.OperationService. Callers can access the operations of the services that they may call. */
export function createOperationService(options: OperationServiceOptions): ServiceRegistration {
  const { operations, events, access } = options;

  /** Returns the operations of the hosts if an operation is one of theirs; undefined if it is the gateway's own. */
  async function fleetWith(id: string): Promise<FleetOperations | undefined> {
    const { fleet } = options;
    const parsed = parseOperationId(id);
    return fleet !== undefined && (await findOperation(operations, parsed)) === undefined ? fleet : undefined;
  }

  async function visibleOperation(id: string, call: Call): Promise<Operation> {
    const operation = await operations.get(parseOperationId(id));
    access.assertVisible(call, operation);
    return operation;
  }

  /** Returns the ID of an operation that the caller may change. */
  async function changeableId(id: string, call: Call): Promise<string> {
    const operation = await visibleOperation(id, call);
    call.noteResource(operation.resource);
    call.noteOperation(operation.id);
    access.assertChangeable(call, operation);
    return operation.id;
  }

  return registerService(OperationService, {
    async getOperation({ id }, call) {
      const fleet = await fleetWith(id);
      if (fleet !== undefined) {
        return fleet.call(id, call, (host) => host.getOperation({ id }, { signal: call.signal }));
      }
      return { operation: operationMessage(await visibleOperation(id, call)) };
    },
    async listOperations(request, call) {
      if (options.fleet !== undefined) {
        return options.fleet.list(request, call);
      }
      const { filters, pageSize, belowSeq } = parseOperationQuery(request);
      const { services: callable, bounds } = options.visibilityOf(call);
      const limited = callable === undefined ? filters : { ...filters, services: [...callable] };
      const { rows, nextSeq } = await readPage(
        OperationSchema,
        { seq: belowSeq, pageSize, signal: call.signal },
        async (seq, limit) => {
          const page = await operations.list(limited, { belowSeq: seq, limit });
          const rows =
            bounds === undefined
              ? page.operations
              : page.operations.filter((row) => access.isVisible(call, row));
          return { rows, nextSeq: page.nextSeq };
        },
        operationMessage,
      );
      return {
        operations: [...rows],
        nextPageToken: nextSeq === undefined ? "" : pageTokenFrom(nextSeq, filters),
      };
    },
    async *watchOperation(request, call) {
      const fleet = await fleetWith(request.id);
      yield* fleet === undefined
        ? watchOperation({ operations, events, access }, request, call)
        : fleet.watch(request, call);
    },
    async cancelOperation({ id }, call) {
      const fleet = await fleetWith(id);
      if (fleet !== undefined) {
        call.noteOperation(id);
        return fleet.call(id, call, (host) => host.cancelOperation({ id }, { signal: call.signal }));
      }
      const operation = await operations.cancel(await changeableId(id, call));
      return { operation: operationMessage(operation) };
    },
    async retryOperation({ id }, call) {
      const fleet = await fleetWith(id);
      if (fleet !== undefined) {
        call.noteOperation(id);
        return fleet.call(id, call, (host) => host.retryOperation({ id }, { signal: call.signal }));
      }
      const operation = await operations.retry(await changeableId(id, call));
      return { operation: operationMessage(operation) };
    },
    async listCommands({ id, pageSize: size, pageToken }, call) {
      const fleet = await fleetWith(id);
      if (fleet !== undefined) {
        const request = { id, pageSize: size, pageToken };
        return fleet.call(id, call, (host) => host.listCommands(request, { signal: call.signal }));
      }
      const pageSize = parsePageSize(size);
      const seq = seqFromPageToken(pageToken, { id });
      access.assertCommandsVisible(call, await operations.get(parseOperationId(id)));
      const { rows, nextSeq } = await readPage(
        OperationCommandSchema,
        { seq, pageSize, signal: call.signal },
        async (seq, limit) => {
          const page = await operations.commands(id, { aboveSeq: seq ?? 0, limit });
          return { rows: page.commands, nextSeq: page.nextSeq };
        },
        commandMessage,
      );
      return {
        commands: [...rows],
        nextPageToken: nextSeq === undefined ? "" : pageTokenFrom(nextSeq, { id }),
      };
    },
  });
}
