import { invalidField } from "../../../adapters/host/infra-error.ts";
import type { ListOperationsRequest } from "../../../gen/hostplane/v1/operation_pb.ts";
import type { HostFilter } from "../../fleet/hub/select-hosts.ts";
import { type OperationState, operationStates } from "../../operations/operation.ts";
import type { OperationFilters } from "../../operations/operation-filters.ts";
import { parsePageSize, parseTextFilter, parseTimes } from "../../rpc/listing/listing-fields.ts";
import { seqFromPageToken } from "../../rpc/listing/page-token.ts";
import { numberOfState } from "./operation-messages.ts";

/** One page of operations, as requested. */
export interface OperationQuery {
  /** In a fixed order, because the page token is bound to them. */
  readonly filters: Omit<OperationFilters, "services">;
  readonly pageSize: number;
  /** Where the previous page ended; undefined for the first. */
  readonly belowSeq: number | undefined;
}

/**
 * Parses the request to a gateway that is not a hub.
 * @throws InfraError INVALID_FIELD
 */
export function parseOperationQuery(request: ListOperationsRequest): OperationQuery {
  const { filters, pageSize } = parseOperationFilters(request);
  if (request.hosts.length > 0 || Object.keys(request.hostLabels).length > 0) {
    const field = request.hosts.length > 0 ? "hosts" : "host_labels";
    throw invalidField(field, "this gateway is not a hub, so it has no hosts");
  }
  return { filters, pageSize, belowSeq: seqFromPageToken(request.pageToken, filters) };
}

/**
 * Parses the request, except for its token and its hosts.
 * @throws InfraError INVALID_FIELD
 */
export function parseOperationFilters(request: ListOperationsRequest): Omit<OperationQuery, "belowSeq"> {
  const { kind } = request;
  const pageSize = parsePageSize(request.pageSize);
  const states = statesFromNumbers(request.states);
  if (kind !== "" && !/^\w{1,64}(\.\w{1,64})?$/.test(kind)) {
    throw invalidField("kind", 'expected a kind such as "volumes.backup", or the part before its dot');
  }
  const filters: OperationQuery["filters"] = {
    ...(states.length === 0 ? {} : { states }),
    ...(kind === "" ? {} : { kind }),
    ...parseTextFilter("resource", request.resource.replace(/\/+$/, "")),
    ...parseTextFilter("actor", request.actor),
    ...parseTimes(request),
  };
  return { filters, pageSize };
}

const hostsMax = 1000;
const hostLabelsMax = 64;
const hostTextMaxLength = 100;

/**
 * Parses the hosts that a request selects.
 * @throws InfraError INVALID_FIELD
 */
export function parseHostFilter({
  hosts,
  hostLabels,
}: Pick<ListOperationsRequest, "hosts" | "hostLabels">): HostFilter {
  const labels = Object.entries(hostLabels);
  assertHostTexts("hosts", hosts, hostsMax);
  assertHostTexts("host_labels", labels.flat(), 2 * hostLabelsMax);
  return { hosts: new Set(hosts), hostLabels: labels };
}

function assertHostTexts(field: string, texts: readonly string[], max: number): void {
  if (texts.length > max || texts.some((text) => text.length > hostTextMaxLength)) {
    throw invalidField(field, `expected at most ${max} texts of at most ${hostTextMaxLength} characters`);
  }
}

/** In the order of `operationStates`, without duplicates. */
function statesFromNumbers(numbers: readonly number[]): OperationState[] {
  const requested = new Set(numbers);
  const states = operationStates.filter((state) => requested.has(numberOfState[state]));
  if (states.length !== requested.size) {
    throw invalidField("states", `expected operation states: ${stateNames}`);
  }
  return states;
}

const stateNames = operationStates
  .map(
    (state) => `OPERATION_STATE_${state.replaceAll(/[A-Z]/g, "_$&").toUpperCase()} (${numberOfState[state]})`,
  )
  .join(", ");

/**
 * Parses the field `id`, the ID of an operation.
 * @throws InfraError INVALID_FIELD
 */
export function parseOperationId(id: string): string {
  if (!/^[\w-]{1,64}$/.test(id)) {
    throw invalidField("id", "expected an operation ID of 1 to 64 letters, digits, `-` and `_`");
  }
  return id;
}
