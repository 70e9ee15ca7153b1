import type { InfraError } from "../../../adapters/host/infra-error.ts";
import type { Call, Interceptor } from "../call/call.ts";
import type { InterceptorFor } from "../call/method-interceptors.ts";
import { infraErrorFrom } from "../errors/connect-error.ts";

/** Response header with the resource of a unary call, as `encodeURI` writes it. */
export const resourceHeader = "hostplane-resource";

/** Response header with the outcome of a unary call: `OK`, or `CODE/REASON`. */
export const outcomeHeader = "hostplane-outcome";

/**
 * Interceptor around the whole chain. Reports the outcome and the resource of a unary call to the hub that forwarded it, for the
 * hub's log and audit log. The hub removes the headers, and no other caller gets them.
 */
export const outcomeReport: InterceptorFor = ({ methodKind }) =>
  methodKind === "unary" ? reportToHub : undefined;

const reportToHub: Interceptor = (call, next) => (call.peer.access === "hub" ? reported(call, next) : next());

const reported: Interceptor = async (call, next) => {
  try {
    const output = await next();
    report(call, undefined);
    return output;
  } catch (thrown) {
    report(call, infraErrorFrom(thrown));
    throw thrown;
  }
};

function report(call: Call, error: InfraError | undefined): void {
  call.setHeader(outcomeHeader, error === undefined ? "OK" : `${error.code}/${error.reason}`);
  const resource = call.resource() ?? error?.resource;
  if (resource !== undefined) {
    call.setHeader(resourceHeader, encodeURI(resource.toWellFormed()));
  }
}
