import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import {
  type ListOperationsRequest,
  type ListOperationsResponseSchema,
  type Operation,
  OperationSchema,
  OperationService,
} from "../../../../gen/hostplane/v1/operation_pb.ts";
import { grantedHosts } from "../../../fleet/caller/granted-hosts.ts";
import type { HubOfCaller } from "../../../fleet/caller/hub-caller-of.ts";
import { hostUnreachable } from "../../../fleet/host-errors.ts";
import { hostClientFor } from "../../../fleet/hub/call-on-host.ts";
import { errorFromHost } from "../../../fleet/hub/error-from-host.ts";
import type { Hub } from "../../../fleet/hub/hub.ts";
import { selectHosts } from "../../../fleet/hub/select-hosts.ts";
import type { HostLink } from "../../../fleet/links/host-link.ts";
import { fleetReasons } from "../../../fleet/reasons.ts";
import type { OperationFilters } from "../../../operations/operation-filters.ts";
import type { Operations } from "../../../operations/operations.ts";
import type { Call } from "../../../rpc/call/call.ts";
import { callableServices } from "../../../rpc/call/callable-services.ts";
import { positionFromToken, positionTokenFrom } from "../../../rpc/listing/position-token.ts";
import { pageMaxBytes, rowsAtOnce } from "../../../rpc/listing/read-page.ts";
import type { OperationAccess } from "../operation-access.ts";
import { operationMessage } from "../operation-messages.ts";
import { parseHostFilter, parseOperationFilters } from "../operation-query.ts";
import { mergeOperations, type OperationSource } from "./merge-operations.ts";
import { type MissingHost, missingHost } from "./missing-host.ts";
import { type OperationPosition, operationsAfter, parsePosition, positionOf } from "./operation-position.ts";

/** How long each host may take for a page. */
const timeoutMs = 5_000;

/** A host has at most this many pages for one page of the fleet; only one that lies has more. */
const pagesMax = 100;

/** The first page of a host, if many hosts share a page of the fleet. */
const firstPageMin = 10;

export interface FleetListOptions {
  readonly hub: Pick<Hub, "name" | "hosts" | "links">;
  readonly operations: Pick<Operations, "list">;
  /** Reports whether a caller may see an operation of the hub. */
  readonly isVisible: OperationAccess["isVisible"];
}

/** A page of the list, as each source reads it. */
interface ListedPage {
  readonly request: ListOperationsRequest;
  readonly filters: Omit<OperationFilters, "services">;
  readonly pageSize: number;
  readonly after: OperationPosition | undefined;
  readonly call: Call;
}

/**
 * Lists the operations of a hub and of its hosts, newest first. Each host shows those that the caller may see.
 * @throws InfraError INVALID_FIELD, HOST_UNKNOWN, and the reason why the call has ended
 */
export async function listFleetOperations(
  options: FleetListOptions,
  request: ListOperationsRequest,
  call: Call,
): Promise<MessageInitShape<typeof ListOperationsResponseSchema>> {
  const { hub, operations } = options;
  const { filters, pageSize } = parseOperationFilters(request);
  const hostFilter = parseHostFilter(request);
  const selected = selectHosts({ hosts: grantedHosts(hub.hosts, call) }, hostFilter);
  const tokenFilters = { ...filters, hosts: [...hostFilter.hosts], labels: hostFilter.hostLabels };
  const after = positionFromToken(request.pageToken, tokenFilters, parsePosition);
  const page: ListedPage = { request, filters, pageSize, after, call };
  const own = { operations, isVisible: options.isVisible };
  const sources: OperationSource[] = selected.isHubSelected ? [ownSource(own, page)] : [];
  const missing: MissingHost[] = [];
  const firstSize = Math.min(
    pageSize,
    Math.max(Math.ceil((2 * pageSize) / selected.hosts.length), firstPageMin),
  );
  for (const { name } of selected.hosts) {
    const link = hub.links.find(name);
    if (link === undefined) {
      missing.push(missingHost(name, hostUnreachable(name, "it is not connected to this hub")));
    } else {
      sources.push(hostSource(link, hub, page, firstSize));
    }
  }
  const merged = await mergeOperations(sources);
  const listed: Operation[] = [];
  let bytes = 0;
  while (listed.length < pageSize && bytes < pageMaxBytes) {
    call.signal.throwIfAborted();
    const operation = await merged.next();
    if (operation === undefined) {
      break;
    }
    listed.push(operation);
    bytes += toBinary(OperationSchema, operation).byteLength;
  }
  const last = listed.at(-1);
  return {
    operations: listed,
    nextPageToken: last === undefined || !merged.hasMore() ? "" : tokenOf(positionOf(last), tokenFilters),
    missingHosts: [...missing, ...merged.missing],
  };
}

function tokenOf({ createdAtMs, host, id }: OperationPosition, filters: object): string {
  return positionTokenFrom([createdAtMs, host, id], filters);
}

/** Returns the end of the time in which operations after the position were requested. */
function toMsOf({ filters, after }: ListedPage): number | undefined {
  const { toMs } = filters;
  // Several operations may have the time of the position.
  return after === undefined ? toMs : Math.min(toMs ?? Number.POSITIVE_INFINITY, after.createdAtMs + 1);
}

function ownSource(
  { operations, isVisible }: Pick<FleetListOptions, "operations" | "isVisible">,
  page: ListedPage,
): OperationSource {
  const callable = callableServices(page.call);
  const toMs = toMsOf(page);
  const filters: OperationFilters = {
    ...page.filters,
    ...(toMs === undefined ? {} : { toMs }),
    ...(callable === undefined ? {} : { services: [...callable] }),
  };
  async function* read(): AsyncGenerator<Operation, void> {
    let belowSeq: number | undefined;
    do {
      const { operations: rows, nextSeq } = await operations.list(filters, { belowSeq, limit: rowsAtOnce });
      for (const row of rows.filter((each) => isVisible(page.call, each))) {
        yield create(OperationSchema, operationMessage(row));
      }
      belowSeq = nextSeq;
    } while (belowSeq !== undefined);
  }
  return {
    host: "",
    operations: operationsAfter(read(), page.after),
    errorFrom: (thrown) => {
      throw thrown;
    },
  };
}

function hostSource(link: HostLink, hub: HubOfCaller, page: ListedPage, firstSize: number): OperationSource {
  const { call, request, pageSize, after } = page;
  const client = hostClientFor(link, OperationService, call, hub);
  const toMs = toMsOf(page);
  const { host } = link;
  async function* read(): AsyncGenerator<Operation, void> {
    let pageToken = "";
    for (let pages = 0; pages === 0 || pageToken !== ""; pages++) {
      if (pages === pagesMax) {
        throw new InfraError(fleetReasons.BAD_HOST_ANSWER, `the list of host ${host} does not end`);
      }
      const { $typeName: _type, hosts: _hosts, hostLabels: _labels, ...filters } = request;
      const answer = await client.listOperations(
        {
          ...filters,
          ...(toMs === undefined ? {} : { to: timestampFromMs(toMs) }),
          pageSize: pages === 0 ? firstSize : pageSize,
          pageToken,
        },
        { signal: call.signal, timeoutMs },
      );
      for (const operation of answer.operations) {
        assertListable(operation, host);
        operation.fleetHost = host;
        yield operation;
      }
      pageToken = answer.nextPageToken;
    }
  }
  return {
    host,
    operations: operationsAfter(read(), after),
    errorFrom(thrown) {
      call.signal.throwIfAborted();
      return errorFromHost(thrown, link);
    },
  };
}

const idMaxLength = 100;

/** @throws InfraError BAD_HOST_ANSWER for an operation with which no page, or no page token, could be sent */
function assertListable(operation: Operation, host: string): void {
  const { createdAtMs, id } = positionOf(operation);
  const isPosition = Number.isSafeInteger(createdAtMs) && id.length <= idMaxLength;
  if (!isPosition || toBinary(OperationSchema, operation).byteLength > pageMaxBytes) {
    const expected = `a time, an ID of at most ${idMaxLength} characters and at most ${pageMaxBytes} bytes`;
    throw new InfraError(
      fleetReasons.BAD_HOST_ANSWER,
      `an operation of host ${host} does not have ${expected}`,
    );
  }
}
