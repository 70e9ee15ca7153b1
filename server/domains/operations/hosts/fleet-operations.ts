import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import {
  type ListOperationsRequest,
  type ListOperationsResponseSchema,
  type Operation,
  OperationService,
  type WatchOperationRequest,
  type WatchOperationResponse,
} from "../../../../gen/hostplane/v1/operation_pb.ts";
import { grantedFleetHosts } from "../../../fleet/caller/granted-hosts.ts";
import type { Fleet } from "../../../fleet/fleet.ts";
import { linkOf } from "../../../fleet/forward/find-host.ts";
import { callOnHost, hostClientFor } from "../../../fleet/hub/call-on-host.ts";
import { errorFromHost } from "../../../fleet/hub/error-from-host.ts";
import type { Operations } from "../../../operations/operations.ts";
import type { Call } from "../../../rpc/call/call.ts";
import type { Store } from "../../../store/store.ts";
import type { OperationAccess } from "../operation-access.ts";
import { createHostsOfOperations } from "./find-host-of-operation.ts";
import { listFleetOperations } from "./list-fleet-operations.ts";

/** The operations of all hosts of a fleet, for the calls of a hub. */
export interface FleetOperations {
  /** @throws InfraError INVALID_FIELD, HOST_UNKNOWN */
  list(
    request: ListOperationsRequest,
    call: Call,
  ): Promise<MessageInitShape<typeof ListOperationsResponseSchema>>;
  /**
   * Makes a call on the host of an operation.
   * @throws InfraError OPERATION_NOT_FOUND, HOST_UNREACHABLE, and the error of the host
   */
  call<Answer extends { readonly $typeName: string; readonly operation?: Operation | undefined }>(
    id: string,
    call: Call,
    work: (client: Client<typeof OperationService>) => Promise<Answer>,
  ): Promise<Answer>;
  /** Follows an operation of a host. @throws InfraError as `call` */
  watch(request: WatchOperationRequest, call: Call): AsyncGenerator<WatchOperationResponse, void>;
}

/** Returns undefined unless the gateway is a hub. */
export function createFleetOperations(
  { hub, hosts }: Pick<Fleet, "hub" | "hosts">,
  operations: Pick<Operations, "list">,
  isVisible: OperationAccess["isVisible"],
  store: Pick<Store, "run">,
): FleetOperations | undefined {
  if (hub === undefined || hosts === undefined) {
    return undefined;
  }
  const { name } = hub;
  const known = createHostsOfOperations(hub, store);

  return {
    list: (request, call) => listFleetOperations({ hub, operations, isVisible }, request, call),
    async call(id, call, work) {
      const host = await known.find(id, call);
      const answer = await callOnHost({ name, hosts }, host, OperationService, call, work);
      if (answer.operation !== undefined) {
        answer.operation.fleetHost = host;
        call.noteResource(answer.operation.resource);
      }
      return answer;
    },
    async *watch(request, call) {
      const host = await known.find(request.id, call);
      const link = linkOf(grantedFleetHosts(hosts, call), host);
      call.noteFleetHost(host);
      const { id, cursor } = request;
      try {
        const client = hostClientFor(link, OperationService, call, hub);
        for await (const message of client.watchOperation({ id, cursor }, { signal: call.signal })) {
          if (message.operation !== undefined) {
            message.operation.fleetHost = host;
          }
          yield message;
        }
      } catch (thrown) {
        call.signal.throwIfAborted();
        throw errorFromHost(thrown, link);
      }
    },
  };
}
