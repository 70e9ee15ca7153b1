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
    : bothOf(ofCaller, ofListener);
}

type Names = ReadonlySet<string>;

/** The same two have the same set each time, by which who keeps it sees that nothing has changed. */
const known = new WeakMap<Names, WeakMap<Names, Names>>();

function bothOf(ofCaller: Names, ofListener: Names): Names {
  const ofThisCaller = known.get(ofCaller) ?? new WeakMap<Names, Names>();
  known.set(ofCaller, ofThisCaller);
  const both = ofThisCaller.get(ofListener) ?? new Set([...ofCaller].filter((name) => ofListener.has(name)));
  ofThisCaller.set(ofListener, both);
  return both;
}
