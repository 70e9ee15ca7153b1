import { errorCodes } from "../../../adapters/host/define-reasons.ts";
import { invalidField } from "../../../adapters/host/infra-error.ts";
import type { ListEventsRequest } from "../../../gen/hostplane/v1/audit_pb.ts";
import { parsePageSize, parseTextFilter, parseTimes } from "../../rpc/listing/listing-fields.ts";
import { seqFromPageToken } from "../../rpc/listing/page-token.ts";
import type { AuditFilters } from "./store/transactions.ts";

/** One page of events, as requested. */
export interface EventQuery {
  /** In a fixed order, because the page token is bound to them. */
  readonly filters: AuditFilters;
  readonly pageSize: number;
  /** The page contains only events below this number. */
  readonly belowSeq: number;
}

/** Value of `outcome` for events without an outcome. */
const unknownOutcome = "UNKNOWN_OUTCOME";

const outcomes: readonly string[] = ["OK", ...errorCodes, unknownOutcome];

/**
 * Parses the request.
 * @throws InfraError INVALID_FIELD
 */
export function parseEventQuery(request: ListEventsRequest): EventQuery {
  const { pageToken, rpc, outcome } = request;
  const pageSize = parsePageSize(request.pageSize);
  if (rpc !== "" && !/^[\w.]{1,255}(\/\w{1,255})?$/.test(rpc)) {
    throw invalidField("rpc", 'expected "package.Service/Method" or "package.Service"');
  }
  if (outcome !== "" && !outcomes.includes(outcome)) {
    throw invalidField("outcome", `expected one of ${outcomes.join(", ")}`);
  }
  const filters: AuditFilters = {
    ...parseTimes(request),
    ...parseTextFilter("actor", request.actor),
    ...parseTextFilter("address", request.address),
    ...(rpc === "" ? {} : { rpc }),
    ...parseTextFilter("resource", request.resource.replace(/\/+$/, "")),
    ...(outcome === "" ? {} : { code: outcome === unknownOutcome ? null : outcome }),
  };
  return {
    filters,
    pageSize,
    belowSeq: seqFromPageToken(pageToken, filters) ?? Number.MAX_SAFE_INTEGER,
  };
}
