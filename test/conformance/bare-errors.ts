import type { ConnectError } from "@connectrpc/connect";
import type { InfraError } from "../../adapters/host/infra-error.ts";
import * as gateway from "../../server/rpc/errors.ts";

// Stands in for server/rpc/errors.ts in the server under test, see server.ts.

export const { errorDomain, infraErrorFrom } = gateway;

/** The gateway's error without its details. */
export function connectErrorFromInfraError(error: InfraError): ConnectError {
  const wire = gateway.connectErrorFromInfraError(error);
  wire.details = [];
  return wire;
}
