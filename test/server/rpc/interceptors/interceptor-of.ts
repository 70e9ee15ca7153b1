import { type Around, runChain } from "../../../../server/rpc/call/call.ts";
import type { LinkFor } from "../../../../server/rpc/call/method-interceptors.ts";

/** Returns an interceptor for calls of any method. */
export function aroundOf(linkFor: LinkFor): Around {
  return (call, next) => {
    const link = linkFor(call.method, call.rule);
    return runChain(link === undefined ? [] : [link], call, next);
  };
}
