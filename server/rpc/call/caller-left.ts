import { InfraError } from "../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";

/** The error of every caller that left. It is shared, because a stack trace for each would cost more than a call. */
export const callerLeft = new InfraError(hostReasons.CALLER_LEFT, "the caller has disconnected");
