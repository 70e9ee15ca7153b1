import type { HttpResponse } from "../protocols/http/http-exchange.ts";
import type { AppliedPlan } from "./applied-plan.ts";
import type { Peer } from "./call.ts";
import type { RequestUsage } from "./request-usage.ts";

/** Facts of a request that the HTTP server knows before a protocol reads it. */
export interface RequestFacts {
  readonly peer: Peer;
  readonly requestId: string;
  /** Whether the answer is gRPC-Web in base64. */
  readonly isText?: boolean;
  /** The response that the answer is written to. */
  readonly response?: HttpResponse;
  /** Query of a Connect GET; absent for any other request. */
  readonly query?: URLSearchParams;
  /** Present if the request's use of resources is limited. */
  readonly usage?: RequestUsage | undefined;
  /** Host of the fleet that the request is forwarded to; absent if this gateway serves it. */
  readonly fleetHost?: string | undefined;
  /**
   * The saved plan that the call applies. Such a call has no time limit: the call that makes it has one, and records the outcome
   * after its own caller has left.
   */
  readonly appliedPlan?: AppliedPlan;
  /** Called for each message that a sink of the call writes, bypassing its outputs. */
  readonly onSinkWrite?: () => void;
}

/** The header that identifies a call in its answer; the log and the gateway's errors have the same id. */
export const requestIdHeader = "hostplane-request-id";
