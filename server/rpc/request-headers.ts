import { InfraError } from "../../adapters/host/infra-error.ts";
import type { Around } from "./call.ts";

/** Request headers of the gateway's own that a call may carry. */
const ownHeaders: ReadonlySet<string> = new Set();

/**
 * Refuses what a caller relies on and the gateway would ignore: an unknown `hostplane-*` header (a typo must not
 * change what a call means), and an `idempotency-key` on a mutation, which is not kept yet.
 * @throws InfraError UNKNOWN_HEADER, NOT_BUILT
 */
export const assertKnownHeaders: Around = (call, next) => {
  for (const name of call.headerNames()) {
    if (name.startsWith("hostplane-") && !ownHeaders.has(name)) {
      throw new InfraError("UNKNOWN_HEADER", `the request header ${name} is not one of the gateway's`);
    }
  }
  if (call.rule.mutation && call.header("idempotency-key") !== undefined) {
    throw new InfraError("NOT_BUILT", "idempotency-key: repeated calls are not recognised yet");
  }
  return next();
};
