import { InfraError } from "../../adapters/host/infra-error.ts";

/** The one error of every caller that left: made once, since a stack trace for each would cost more than a call. */
export const callerLeft = new InfraError("CALLER_LEFT", "the caller has left");
