import type { Call } from "./call.ts";

/**
 * Full names of the services that a caller may call by the listener it has come by, as of now; undefined: all. What it is
 * told of the work of others follows from that.
 * @throws InfraError UNAUTHENTICATED reasons once the caller's credential is accepted no more
 */
export function callableServices({
  caller,
  peer,
}: Pick<Call, "caller" | "peer">): ReadonlySet<string> | undefined {
  const { services: ofCaller } = caller.current();
  const { services: ofListener } = peer;
  return ofCaller === undefined || ofListener === undefined
    ? (ofCaller ?? ofListener)
    : new Set([...ofCaller].filter((name) => ofListener.has(name)));
}
