import type { Call } from "./call.ts";

/**
 * Returns the full names of the services that a caller may currently call through its listener; undefined means all. They also
 * decide which work of others it may see.
 * @throws InfraError UNAUTHENTICATED reasons once the caller's credential is no longer accepted
 */
export function callableServices({
  caller,
  peer,
}: Pick<Call, "caller" | "peer">): ReadonlySet<string> | undefined {
  const { services: ofCaller } = caller.current();
  const { services: ofListener } = peer;
  return ofCaller === undefined || ofListener === undefined
    ? (ofCaller ?? ofListener)
    : bothOf(ofCaller, ofListener);
}

type Names = ReadonlySet<string>;

/** The same two sets always give the same result object, so that a caller can detect by identity that nothing has changed. */
const known = new WeakMap<Names, WeakMap<Names, Names>>();

function bothOf(ofCaller: Names, ofListener: Names): Names {
  const ofThisCaller = known.get(ofCaller) ?? new WeakMap<Names, Names>();
  known.set(ofCaller, ofThisCaller);
  const both = ofThisCaller.get(ofListener) ?? new Set([...ofCaller].filter((name) => ofListener.has(name)));
  ofThisCaller.set(ofListener, both);
  return both;
}
