import { type Code, ConnectError } from "@connectrpc/connect";
import type { Call } from "../call/call.ts";
import { connectErrorFromInfraError, infraErrorFrom } from "./connect-error.ts";

/** Errors created by handlers, to be sent unchanged. */
const handlerErrors = new WeakSet<ConnectError>();

/** Creates an error that is sent unchanged, with its code and details, for services whose own contract specifies the errors. */
export function createHandlerError(
  message: string,
  code: Code,
  details: ConnectError["details"],
): ConnectError {
  const error = new ConnectError(message, code);
  error.details.push(...details);
  handlerErrors.add(error);
  return error;
}

/** Returns the error to send for `thrown`: an error created by its handler unchanged, any other in its wire form. */
export function wireErrorFrom(
  thrown: unknown,
  { protocol, peer }: Pick<Call, "protocol" | "peer">,
): ConnectError {
  if (thrown instanceof ConnectError && handlerErrors.has(thrown)) {
    return thrown;
  }
  const hasDetails = peer.errorDetails || protocol === "rest" || protocol === "sse";
  return connectErrorFromInfraError(infraErrorFrom(thrown), hasDetails);
}
