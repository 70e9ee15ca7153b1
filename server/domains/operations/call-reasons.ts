import { hostReasons } from "../../../adapters/host/reasons.ts";
import type { CallReasons } from "../../domain/call-reasons.ts";
import { domainReasons } from "../../domain/reasons.ts";
import { eventReasons } from "../../events/reasons.ts";
import { fleetReasons } from "../../fleet/reasons.ts";
import { operationReasons } from "../../operations/reasons.ts";
import { rpcReasons } from "../../rpc/reasons.ts";

/** Reasons for which the calls about operations fail. */
export const operationCallReasons: CallReasons = {
  tables: [operationReasons],
  every: [
    operationReasons.OPERATION_NOT_FOUND,
    eventReasons.HISTORY_GONE,
    fleetReasons.HOST_UNKNOWN,
    fleetReasons.HOST_UNREACHABLE,
    fleetReasons.BAD_HOST_ANSWER,
  ],
  change: [
    // Changes also require the role and service of the RPC that started the operation.
    rpcReasons.SERVICE_NOT_ALLOWED,
    operationReasons.OPERATION_IN_PROGRESS,
    operationReasons.OPERATION_ENDED,
    operationReasons.OPERATION_NOT_RETRYABLE,
    operationReasons.POINT_OF_NO_RETURN,
    domainReasons.DOMAIN_OFF,
    hostReasons.BUSY,
  ],
};
