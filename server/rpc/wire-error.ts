import { type Code, ConnectError } from "@connectrpc/connect";
import type { Call } from "./call.ts";
import { connectErrorFromInfraError, infraErrorFrom } from "./errors.ts";

/** Errors that handlers have worded themselves. */
const handlerErrors = new WeakSet<ConnectError>();

/**
 * Makes an error that goes out as it is, with the code and the details that its handler gives it, for services whose own
 * contract says what errors carry.
 */
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

/** What a call is answered with that ends with `thrown`: an error of its handler's as it is, any other in its wire form. */
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
